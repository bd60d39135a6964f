// Package kinds reads the files that declare the built-in kinds: one file per kind, with its names, versions, scope,
// subresources, traits, strategy, selectable fields, reset fields, defaults, validation, warnings and columns.
// README.md documents their language with an example, and the steps to add a kind.
//
// The package parses only the outline of a file: declarations, properties, sections and their lines. [Builtin] splits
// the embedded files on first use; the packages that use a section parse it when they first need it, and report errors
// with its file and line:
//
//	internal/api           properties, strategy, selectable fields, reset fields
//	internal/api/builtin   defaults, one-ofs, validation, warnings
//	internal/encoding      columns
//
// # Where to look
//
//	set.go          the files, and all their declarations
//	declaration.go  the outline of a file
package kinds
