package schema

// LimitObjects lowers the limit on schema objects, and returns what restores it.
func LimitObjects(n int) (restore func()) {
	before := maxObjects
	maxObjects = n
	return func() { maxObjects = before }
}
