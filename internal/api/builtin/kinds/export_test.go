package kinds

import "io/fs"

// Add adds the kind files of a directory to the built-in kind files. It panics if Builtin has been called before.
func Add(files fs.FS) {
	added.Lock()
	defer added.Unlock()
	if added.read {
		panic("kinds.Add: expected no earlier call of Builtin; call Add from TestMain")
	}
	added.files = append(added.files, files)
}
