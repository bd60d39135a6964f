// Package kinds reads the files that describe the built-in kinds: one file per kind, with its names, versions, scope,
// subresources, traits, strategy, selectable fields, reset fields, defaults, validation, warnings and columns. README.md
// explains their language with an example, and how a kind is added.
//
// The package knows the outline of a file only: declarations, properties, sections and their lines. [Builtin] splits the
// embedded files at its first call; the packages that use a section parse it when they first need it, and report
// mistakes with its file and line:
//
//	internal/api           properties, strategy, selectable fields, reset fields
//	internal/api/builtin   defaults, one-ofs, validation, warnings
//	internal/encoding      columns
//
// # Where to look
//
//	set.go          the files, and all declarations of them
//	declaration.go  the outline of a file
package kinds
