package api

import (
	"maps"
	"slices"

	"github.com/cadastre/cadastre/document"
)

// prepareSigningRequestStatus prepares an update of a CertificateSigningRequest's status, usually by a signer: it restores the
// Approved and Denied conditions, and sets the times of conditions that lack them.
func prepareSigningRequestStatus(obj, live document.Value, w Write) document.Value {
	return setConditionTimes(restoreApprovalConditions(obj, live), live, w)
}

// prepareSigningRequestApproval prepares an update of a CertificateSigningRequest's approval subresource: it sets the times
// of conditions that lack them.
func prepareSigningRequestApproval(obj, live document.Value, w Write) document.Value {
	return setConditionTimes(obj, live, w)
}

// prepareSigningRequestForCreate sets username, uid, groups and extra in the spec of a new CertificateSigningRequest to those
// of the authenticated user.
func prepareSigningRequestForCreate(obj, _ document.Value, w Write) document.Value {
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
	obj = put(obj, stringOrAbsent(u.Name), "spec", "username")
	obj = put(obj, stringOrAbsent(u.UID), "spec", "uid")
	obj = put(obj, listOrAbsent(groups), "spec", "groups")
	return put(obj, extra, "spec", "extra")
}

// restoreApprovalConditions restores the Approved and Denied conditions from the live object, because only the approval
// subresource can change them. If the number of conditions of one of these types has changed, it does not restore them, and
// validation rejects the change.
func restoreApprovalConditions(obj, live document.Value) document.Value {
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

// setConditionTimes sets lastUpdateTime and lastTransitionTime of the conditions that lack them. lastTransitionTime of a
// condition whose status is unchanged is that of the live object.
func setConditionTimes(obj, live document.Value, w Write) document.Value {
	requestTime := timestamp(w.Time)
	return putItems(obj, func(c document.Value) document.Value {
		if isEmpty(c.Get("lastUpdateTime")) {
			c = c.With("lastUpdateTime", requestTime)
		}
		if !isEmpty(c.Get("lastTransitionTime")) {
			return c
		}
		since := requestTime
		for _, before := range conditionsOf(live, c.Get("type").Text()) {
			if t := before.Get("lastTransitionTime"); before.Get("status").Text() == c.Get("status").Text() && !isEmpty(t) {
				since = t
				break
			}
		}
		return c.With("lastTransitionTime", since)
	}, "status", "conditions")
}
