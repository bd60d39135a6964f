package builtin

import (
	"encoding/base64"
	"encoding/json"

	"github.com/cadastre/cadastre/document"
)

// maxDataBytes is the maximum total size in bytes of the decoded values of a ConfigMap or Secret.
const maxDataBytes = 1 << 20

// checkFrozenData rejects changes of ConfigMaps and Secrets whose old version is immutable. It also rejects updates from an
// absent map to an empty map. Updates from an empty map to an absent map are allowed, because clients that omit empty fields
// send them.
func checkFrozenData(c *checker, value, old document.Value) {
	const detail = "field is immutable when `immutable` is set"
	if !value.Get("immutable").Bool() {
		c.forbidden(detail, "immutable")
	}
	for _, name := range []string{"data", "binaryData"} {
		current, oldValue := value.Get(name), old.Get(name)
		if t, _ := fieldType(c.kind, name); !semanticEqual(t, false, current, oldValue) || isAbsentOrNull(oldValue) && !isAbsentOrNull(current) {
			c.forbidden(detail, name)
		}
	}
}

func checkNotInBinary(c *checker, _, _ document.Value) {
	if object := c.innermostValue(); !isAbsentOrNull(object.Get("binaryData").Get(c.key())) {
		c.invalid(c.key(), "duplicate of key present in binaryData")
	}
}

func checkConfigMapSize(c *checker, object, _ document.Value) {
	size := 0
	for _, value := range object.Get("data").Fields() {
		size += len(value.Text())
	}
	if size+decodedSize(object.Get("binaryData")) > maxDataBytes {
		c.tooLong(maxDataBytes, "[]") // kube-apiserver reports this error at an empty path, which is written []
	}
}

func checkSecretSize(c *checker, data, _ document.Value) {
	if decodedSize(data) > maxDataBytes {
		c.tooLong(maxDataBytes)
	}
}

// decodedSize returns the total size in bytes of the values of data, which are base64-encoded, after decoding.
func decodedSize(data document.Value) (size int) {
	for _, value := range data.Fields() {
		text := value.Text()
		size += base64.StdEncoding.DecodedLen(len(text))
		for i := len(text) - 1; i >= 0 && i >= len(text)-2 && text[i] == '='; i-- {
			size--
		}
	}
	return size
}

// secretKeys maps the types of Secrets to the keys that their data must contain. For basic-auth, one of the keys is
// sufficient.
var secretKeys = map[string][]string{
	"kubernetes.io/dockercfg":        {".dockercfg"},
	"kubernetes.io/dockerconfigjson": {".dockerconfigjson"},
	"kubernetes.io/ssh-auth":         {"ssh-privatekey"},
	"kubernetes.io/tls":              {"tls.crt", "tls.key"},
	"kubernetes.io/basic-auth":       {"username", "password"},
}

func checkSecretType(c *checker, secret, _ document.Value) {
	kind, data := secret.Get("type").Text(), secret.Get("data")
	const account = "kubernetes.io/service-account.name"
	if kind == "kubernetes.io/service-account-token" && secret.Lookup("metadata", "annotations", account).Text() == "" {
		c.push("metadata")
		c.push("annotations")
		c.requireKey(account)
		c.pop()
		c.pop()
	}
	keys := secretKeys[kind]
	c.push("data")
	defer c.pop()
	missing := 0
	for _, key := range keys {
		if isAbsentOrNull(data.Get(key)) || kind == "kubernetes.io/ssh-auth" && data.Get(key).Text() == "" {
			missing++
		}
	}
	if kind == "kubernetes.io/basic-auth" && missing < len(keys) {
		return
	}
	for _, key := range keys {
		value := data.Get(key)
		if isAbsentOrNull(value) || kind == "kubernetes.io/ssh-auth" && value.Text() == "" {
			c.requireKey(key)
		} else if key[0] == '.' {
			c.checkJSONObject(key, value.Text())
		}
	}
}

func (c *checker) requireKey(key string) {
	c.pushKey(key)
	c.required("")
	c.pop()
}

func (c *checker) checkJSONObject(key, text string) {
	content, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(content, &map[string]any{})
	}
	if err != nil {
		c.pushKey(key)
		c.invalid("<secret contents redacted>", err.Error())
		c.pop()
	}
}
