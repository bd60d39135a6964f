package builtin

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/cadastre/cadastre/document"
)

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

// Limits beyond which the indexes of a job may be more than its status can hold.
const (
	manyIndexed       = 100_000
	manyIndexedAtOnce = 10_000
)

func manyIndexes(c *checker, spec, _ document.Value) {
	if number(spec.Get("completions")) > manyIndexed && number(spec.Get("parallelism")) > manyIndexedAtOnce {
		c.warn("In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail")
	}
}

// zoneInSchedule warns of a zone that is not where it belongs. kube-apiserver has the place wrong.
func zoneInSchedule(c *checker, schedule, _ document.Value) {
	if strings.Contains(schedule.Text(), "TZ") {
		c.say("cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
}
