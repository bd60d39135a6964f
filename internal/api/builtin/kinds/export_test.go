package kinds

import "io/fs"

// Add makes the kind files of a folder part of the built-in ones: it has the effect of copying them into this folder
// before the program is compiled. It must be called before the first call of Builtin, and panics otherwise.
func Add(files fs.FS) {
	added.Lock()
	defer added.Unlock()
	if added.read {
		panic("kinds.Add: the built-in kinds have been read already; call it earlier, such as from TestMain")
	}
	added.files = append(added.files, files)
}
