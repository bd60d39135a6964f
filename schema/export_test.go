package schema

// LimitObjects lowers the maximum number of schema objects per document, and returns a function that restores it.
func LimitObjects(n int) (restore func()) {
	before := maxObjects
	maxObjects = n
	return func() { maxObjects = before }
}
