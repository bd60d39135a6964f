package builtin

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// warnQuotaPairs adds a warning for each resource whose requests in a ResourceQuota exceed its limits.
func warnQuotaPairs(c *checker, hard, _ document.Value) {
	for _, name := range [...]string{"cpu", "memory", "storage", "ephemeral-storage"} {
		requestName := "requests." + name
		if isAbsentOrNull(hard.Get(requestName)) && (name == "cpu" || name == "memory") {
			requestName = name
		}
		request, limit := hard.Get(requestName), hard.Get("limits."+name)
		if isAbsentOrNull(request) || isAbsentOrNull(limit) {
			continue
		}
		if q, maximum := quantityValue(request), quantityValue(limit); q.Cmp(maximum) > 0 {
			c.addWarning(fmt.Sprintf("ResourceQuota %s (%s) should be less than limits.%s (%s)", requestName, q.String(), name, maximum.String()))
		}
	}
}

// warnKeyPair adds a warning if the certificate and the key of a TLS Secret are invalid or do not match.
func warnKeyPair(c *checker, data, _ document.Value) {
	certificate, _ := base64.StdEncoding.DecodeString(data.Get("tls.crt").Text())
	key, _ := base64.StdEncoding.DecodeString(data.Get("tls.key").Text())
	if _, err := tls.X509KeyPair(certificate, key); err != nil {
		c.addWarning(err.Error())
	}
}

const reservedSuffix = ".static.k8s.io"

func warnReservedName(c *checker, name, _ document.Value) {
	if strings.HasSuffix(name.Text(), reservedSuffix) {
		c.warn(fmt.Sprintf("names ending with %q are reserved for static manifest-based configurations and cannot be managed via the API", reservedSuffix))
	}
}

func warnLowerCaseDriver(c *checker, driver, _ document.Value) {
	if name := driver.Text(); name != strings.ToLower(name) {
		c.warn(fmt.Sprintf("driver names should be lowercase; %q contains uppercase characters", name))
	}
}

// Kubernetes warns about an indexed Job that exceeds both limits, because the status of the Job may become too large.
const (
	manyCompletionsWarning = 100_000 // manyCompletionsWarning is the number of completions that must be exceeded.
	manyParallelWarning    = 10_000  // manyParallelWarning is the parallelism that must be exceeded.
)

func warnManyIndexes(c *checker, spec, _ document.Value) {
	if intValue(spec.Get("completions")) > manyCompletionsWarning && intValue(spec.Get("parallelism")) > manyParallelWarning {
		c.warn("In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail")
	}
}

// warnScheduleZone adds a warning if the schedule of a CronJob contains a time zone. The path spec.spec.schedule in the message
// is wrong in kube-apiserver, too.
func warnScheduleZone(c *checker, schedule, _ document.Value) {
	if strings.Contains(schedule.Text(), "TZ") {
		c.addWarning("cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
}
