package schema

// LimitObjects lowers the limit of schema objects, and returns a function that restores it.
func LimitObjects(n int) (restore func()) {
	before := maxObjects
	maxObjects = n
	return func() { maxObjects = before }
}
