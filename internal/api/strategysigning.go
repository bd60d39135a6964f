package api

import (
	"maps"
	"slices"

	"github.com/cadastre/cadastre/document"
)

// prepareSigningRequestForUpdate restores the conditions that an endpoint cannot change, and sets the timestamps of new
// conditions.
func prepareSigningRequestForUpdate(endpoint string, obj, live document.Value, w Write) document.Value {
	switch endpoint {
	case StatusSubresource:
		return setConditionTimes(restoreDecisions(obj, live), live, w)
	case "approval":
		return setConditionTimes(obj, live, w)
	}
	return obj
}

// prepareSigningRequestForCreate copies the authenticated user to the spec.
func prepareSigningRequestForCreate(_ string, obj, _ document.Value, w Write) document.Value {
	u := w.User
	var groups []document.Value
	for _, g := range u.Groups {
		groups = append(groups, document.NewString(g))
	}
	var extra document.Value
	for _, name := range slices.Sorted(maps.Keys(u.Extra)) {
		values := []document.Value{}
		for _, v := range u.Extra[name] {
			values = append(values, document.NewString(v))
		}
		extra = extra.With(name, document.NewList(values...))
	}
	obj = put(obj, text(u.Name), "spec", "username")
	obj = put(obj, text(u.UID), "spec", "uid")
	obj = put(obj, list(groups), "spec", "groups")
	return put(obj, extra, "spec", "extra")
}

// restoreDecisions restores the Approved and Denied conditions, which only the approval subresource can change, if
// their number is unchanged.
func restoreDecisions(obj, live document.Value) document.Value {
	for _, decision := range []string{"Approved", "Denied"} {
		then := conditionsOf(live, decision)
		if len(then) != len(conditionsOf(obj, decision)) {
			continue
		}
		next := 0
		obj = putItems(obj, func(c document.Value) document.Value {
			if c.Get("type").Text() != decision {
				return c
			}
			next++
			return then[next-1]
		}, "status", "conditions")
	}
	return obj
}

func conditionsOf(obj document.Value, name string) (found []document.Value) {
	for _, c := range obj.Lookup("status", "conditions").Items() {
		if c.Get("type").Text() == name {
			found = append(found, c)
		}
	}
	return found
}

// setConditionTimes sets lastUpdateTime and lastTransitionTime of the conditions that lack them.
func setConditionTimes(obj, live document.Value, w Write) document.Value {
	now := timestamp(w.Time)
	return putItems(obj, func(c document.Value) document.Value {
		if isEmpty(c.Get("lastUpdateTime")) {
			c = c.With("lastUpdateTime", now)
		}
		if !isEmpty(c.Get("lastTransitionTime")) {
			return c
		}
		since := now
		for _, before := range conditionsOf(live, c.Get("type").Text()) {
			if t := before.Get("lastTransitionTime"); before.Get("status").Text() == c.Get("status").Text() && !isEmpty(t) {
				since = t
				break
			}
		}
		return c.With("lastTransitionTime", since)
	}, "status", "conditions")
}
