package rules

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net/netip"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	netutils "k8s.io/utils/net"

	"github.com/cadastre/cadastre/document"
)

// Warnings returns what the client should know about an object that is right, as kube-apiserver words it. When
// an object is created, old is absent; otherwise it is the live object. Where there is nothing to say, nothing is
// allocated.
func (t *Type) Warnings(obj, old document.Value) []string {
	return t.warnings(ruleset().warnings[t], obj, old)
}

// StatusWarnings does the same for a write to an object's status.
func (t *Type) StatusWarnings(obj, live document.Value) []string {
	return t.warnings(ruleset().statusWarnings[t], obj, live)
}

func (t *Type) warnings(b *block, obj, old document.Value) []string {
	if b == nil {
		return nil
	}
	c := checkers.Get().(*checker)
	c.kind, c.updating = t, !isNothing(old)
	c.run(b, obj, old)
	found := c.warnings
	c.reset()
	checkers.Put(c)
	return found
}

// mostWarnings is how many are found: what is sent is cut off after 4,096 characters, and none is as short as 16.
const mostWarnings = 256

// warn says something about a place below this one.
func (c *checker) warn(text string, below ...string) {
	if !c.hasSaidEnough() {
		c.say(c.place(below...) + ": " + text)
	}
}

// say says something.
func (c *checker) say(text string) {
	if !c.hasSaidEnough() {
		c.warnings = append(c.warnings, text)
	}
}

func (c *checker) hasSaidEnough() bool { return len(c.warnings) >= mostWarnings }

// keyed returns the place of a key of a map below this one.
func (c *checker) keyed(key string, below ...string) string {
	return c.place(below...) + "[" + key + "]"
}

// warningChecks are the checks that only warnings name and that are told more.
func warningChecks() map[string]maker {
	return map[string]maker{
		"warn":              warning(isGiven),
		"warn-unset":        warning(isNothing),
		"warn-empty":        warning(func(v document.Value) bool { return v.Text() == "" }),
		"below-zero":        warning(func(v document.Value) bool { return number(v) < 0 }),
		"say":               saying(func(document.Value) bool { return true }),
		"say-given":         saying(isGiven),
		"has":               makeHas,
		"old-key":           makeOldKey,
		"new-key":           makeNewKey,
		"warn-duplicate":    makeWarnDuplicate,
		"recommended-label": makeRecommendedLabel,
	}
}

// warning makes a check that says something about values of a sort.
func warning(of func(document.Value) bool) maker {
	return detailed("", func(c *checker, v document.Value, detail string) bool {
		if of(v) {
			c.warn(detail)
		}
		return true
	})
}

// saying does the same without the place.
func saying(of func(document.Value) bool) maker {
	return detailed("", func(c *checker, v document.Value, detail string) bool {
		if of(v) {
			c.say(detail)
		}
		return true
	})
}

// makeWas runs the rules of a type on what was there before.
func (book *rulebook) makeWas(args []string) (check, error) {
	if len(args) != 1 || book.blocks[args[0]] == nil {
		return nil, fmt.Errorf("expected a type, received %q", args)
	}
	used := book.blocks[args[0]]
	return func(c *checker, _, old document.Value) bool {
		if !isNothing(old) {
			c.run(used, old, document.Value{})
		}
		return true
	}, nil
}

// makeHas is a guard: the line ends if a map does not have a key.
func makeHas(args []string) (check, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("expected a key, received %q", args)
	}
	return func(_ *checker, now, _ document.Value) bool { return !isNothing(now.Get(args[0])) }, nil
}

// makeOldKey warns of a key of a map.
func makeOldKey(args []string) (check, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("expected a key and what is to be said about it, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		if !isNothing(now.Get(args[0])) {
			c.say(c.keyed(args[0]) + ": " + args[1])
		}
		return true
	}, nil
}

// makeNewKey warns of a key that was not there before.
func makeNewKey(args []string) (check, error) {
	warn, err := makeOldKey(args)
	return func(c *checker, now, old document.Value) bool {
		return !isNothing(old.Get(args[0])) || warn(c, now, old)
	}, err
}

// makeWarnDuplicate warns of a field's text that an item before this one in the list has too.
func makeWarnDuplicate(args []string) (check, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("expected the field, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		if c.item > 0 && c.first(c.list, args[0], now.Text(), false) < c.item {
			c.warn(fmt.Sprintf("duplicate %s %q", args[0], now.Text()))
		}
		return true
	}, nil
}

// makeRecommendedLabel warns of names that are no labels of DNS.
func makeRecommendedLabel(args []string) (check, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("expected the words, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		if problems := formats["dns-label"].check(now.Text()); len(problems) > 0 {
			c.warn(fmt.Sprintf("%s: %v", args[0], problems))
		}
		return true
	}, nil
}

// irregularWarnings are the checks that only warnings name, and that are code: each is one of a kind.
func irregularWarnings() map[string]func(c *checker, now, old document.Value) {
	return map[string]func(c *checker, now, old document.Value){
		"pod-name-start": podNameStart, "app-armor-annotations": warnAppArmor, "container-warnings": containerWarnings,
		"overlapping-paths": overlappingPaths, "whole-bytes": wholeBytes, "whole-storage": wholeStorage,
		"many-indexes": manyIndexes, "zone-in-schedule": zoneInSchedule,

		"old-label": oldLabel, "old-label-key": oldLabelKey, "old-label-plain": oldLabelPlain, "old-match-labels": oldMatchLabels,
		"odd-label-value": oddLabelValue, "odd-ip": oddIP, "odd-cidr": oddCIDR,
		"endpoints-warnings": endpointsWarnings, "slice-warnings": sliceWarnings,
		"quota-pairs": quotaPairs, "key-pair": keyPair, "reserved-name": reservedName, "lower-case-driver": lowerCaseDriver,
	}
}

// oldLabels are labels of nodes that have others in their place.
var oldLabels = map[string]string{
	"beta.kubernetes.io/arch":                       `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                         `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region":      `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":        `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":              `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
	"app.kubernetes.io/created-by":                  `deprecated since v1.9`,
	"scheduler.alpha.kubernetes.io/preferAvoidPods": `deprecated since v1.22; use Taints and Tolerations instead`,
	"node-role.kubernetes.io/master":                `use "node-role.kubernetes.io/control-plane" instead`,
}

func oldLabel(c *checker, now, _ document.Value) {
	if instead, ok := oldLabels[now.Text()]; ok {
		c.warn(now.Text() + " is " + instead)
	}
}

func oldLabelPlain(c *checker, now, _ document.Value) {
	if instead, ok := oldLabels[now.Text()]; ok {
		c.warn(instead)
	}
}

func oldLabelKey(c *checker, _, _ document.Value) {
	if instead, ok := oldLabels[c.key()]; ok {
		c.warn(instead)
	}
}

// oldMatchLabels warns of the keys of a map as if they were fields.
func oldMatchLabels(c *checker, labels, _ document.Value) {
	for key := range labels.Fields() {
		if instead, ok := oldLabels[key]; ok {
			c.warn(instead, key)
		}
	}
}

func oddLabelValue(c *checker, now, _ document.Value) {
	for _, problem := range formats["label-value"].check(now.Text()) {
		c.warn(now.Text() + " is invalid, " + problem)
	}
}

// oddIP warns of addresses that can be written in a better way. What is none is not its business.
func oddIP(c *checker, now, _ document.Value) {
	addr, err := netip.ParseAddr(now.Text())
	if err == nil && addr.Is4() || now.Text() == "" {
		return
	}
	if netutils.ParseIPSloppy(now.Text()) != nil {
		c.sayHere(validation.GetWarningsForIP(nil, now.Text()))
	}
}

func oddCIDR(c *checker, now, _ document.Value) {
	prefix, err := netip.ParsePrefix(now.Text())
	if err == nil && prefix.Addr().Is4() && prefix == prefix.Masked() {
		return
	}
	if _, _, err := netutils.ParseCIDRSloppy(now.Text()); err == nil {
		c.sayHere(validation.GetWarningsForCIDR(nil, now.Text()))
	}
}

// sayHere says what a function of apimachinery said about a place that it was not told.
func (c *checker) sayHere(warnings []string) {
	for _, w := range warnings {
		_, text, _ := strings.Cut(w, ": ")
		c.warn(text)
	}
}

// What is written by Kubernetes' own controllers is right.
const (
	endpointsManager = "endpoints.kubernetes.io/managed-by"
	sliceManager     = "endpointslice.kubernetes.io/managed-by"
)

func endpointsWarnings(c *checker, endpoints, _ document.Value) {
	if endpoints.Lookup("metadata", "labels", endpointsManager).Text() == "endpoint-controller" {
		return
	}
	for i, subset := range endpoints.Get("subsets").Items() {
		c.push("subsets")
		c.pushItem(i)
		for _, list := range [...]string{"addresses", "notReadyAddresses"} {
			c.push(list)
			for j, address := range subset.Get(list).Items() {
				c.pushItem(j)
				c.push("ip")
				oddIP(c, address.Get("ip"), document.Value{})
				c.pop()
				c.pop()
			}
			c.pop()
		}
		c.pop()
		c.pop()
	}
}

func sliceWarnings(c *checker, slice, _ document.Value) {
	switch slice.Lookup("metadata", "labels", sliceManager).Text() {
	case "endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io":
		return
	}
	c.push("endpoints")
	for i, endpoint := range slice.Get("endpoints").Items() {
		c.pushItem(i)
		c.push("addresses")
		for j, address := range endpoint.Get("addresses").Items() {
			c.pushItem(j)
			oddIP(c, address, document.Value{})
			c.pop()
		}
		c.pop()
		c.pop()
	}
	c.pop()
}

// quotaPairs warns of requests that may be more than their limits.
func quotaPairs(c *checker, hard, _ document.Value) {
	for _, name := range [...]string{"cpu", "memory", "storage", "ephemeral-storage"} {
		asked := "requests." + name
		if isNothing(hard.Get(asked)) && (name == "cpu" || name == "memory") {
			asked = name
		}
		request, limit := hard.Get(asked), hard.Get("limits."+name)
		if isNothing(request) || isNothing(limit) {
			continue
		}
		if q, most := amount(request), amount(limit); q.Cmp(most) > 0 {
			c.say(fmt.Sprintf("ResourceQuota %s (%s) should be less than limits.%s (%s)", asked, q.String(), name, most.String()))
		}
	}
}

// keyPair warns of a certificate that is not that of the key.
func keyPair(c *checker, data, _ document.Value) {
	certificate, _ := base64.StdEncoding.DecodeString(data.Get("tls.crt").Text())
	key, _ := base64.StdEncoding.DecodeString(data.Get("tls.key").Text())
	if _, err := tls.X509KeyPair(certificate, key); err != nil {
		c.say(err.Error())
	}
}

const reservedSuffix = ".static.k8s.io"

func reservedName(c *checker, name, _ document.Value) {
	if strings.HasSuffix(name.Text(), reservedSuffix) {
		c.warn(fmt.Sprintf("names ending with %q are reserved for static manifest-based configurations and cannot be managed via the API", reservedSuffix))
	}
}

func lowerCaseDriver(c *checker, driver, _ document.Value) {
	if name := driver.Text(); name != strings.ToLower(name) {
		c.warn(fmt.Sprintf("driver names should be lowercase; %q contains uppercase characters", name))
	}
}
