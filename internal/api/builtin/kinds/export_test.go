package kinds

import "io/fs"

// Add adds the kind files of a directory to the built-in ones. It must be called before the first call of Builtin, and
// panics otherwise.
func Add(files fs.FS) {
	added.Lock()
	defer added.Unlock()
	if added.read {
		panic("kinds.Add: expected no earlier call of Builtin; call Add from TestMain")
	}
	added.files = append(added.files, files)
}
