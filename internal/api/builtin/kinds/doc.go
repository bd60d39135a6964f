// Package kinds reads the files that declare the built-in kinds. There is one file per kind, with the names, versions, scope,
// subresources, traits, strategy, selectable fields, reset fields, defaults, validation, warnings and columns of the kind.
// README.md documents the language of the files with an example, and the steps to add a kind.
//
// The package parses only the outline of a file: declarations, properties, sections and their lines. [Builtin] parses the
// outlines of the embedded files on first use. The content of sections is parsed on first use by other packages, which report
// errors with file and line:
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
