package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

// The users. The group system:masters of the operator is exempt from priority and fairness, and needs no certificate, whose validity
// would depend on the moved clock.
const (
	aliceToken    = "token-of-alice"
	bobToken      = "token-of-bob"
	malloryToken  = "token-of-mallory"
	operatorToken = "token-of-operator"
	tokenFile     = aliceToken + ",alice,1,\"team\"\n" + bobToken + ",bob,2,\"team\"\n" +
		malloryToken + ",mallory,3,\"team\"\n" + operatorToken + ",operator,4,\"system:masters\"\n"
)

// requestTimeout is longer than the deadline of the server, so that the server decides about the result.
const requestTimeout = 90 * time.Second

// user sends requests with a token.
type user struct {
	client *http.Client
	url    string
	token  string
}

// newUser returns a user that trusts the CA bundle in a file.
func newUser(url, ca, token string) (*user, error) {
	config, err := tlsConfig(ca)
	if err != nil {
		return nil, err
	}
	return &user{&http.Client{Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}}, url, token}, nil
}

func tlsConfig(ca string) (*tls.Config, error) {
	bundle, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return nil, fmt.Errorf("%s: expected a certificate", ca)
	}
	return &tls.Config{RootCAs: roots}, nil
}

// request is a request of a user.
type request struct {
	method, path, mediaType string
	body                    string
}

// statusError is a response with another status than 2xx.
type statusError struct {
	request request
	status  int
	text    string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s %s: %d %.300s", e.request.method, e.request.path, e.status, e.text)
}

// statusOf returns the HTTP status of an error of do; 0 if there was no response.
func statusOf(err error) int {
	if failed := (*statusError)(nil); errors.As(err, &failed) {
		return failed.status
	}
	return 0
}

// open sends a request and returns the response, whose status is 2xx.
func (u *user) open(ctx context.Context, r request) (*http.Response, error) {
	sent, err := http.NewRequestWithContext(ctx, r.method, u.url+r.path, bytes.NewReader([]byte(r.body)))
	if err != nil {
		return nil, err
	}
	if r.mediaType != "" {
		sent.Header.Set("Content-Type", r.mediaType)
	}
	sent.Header.Set("Authorization", "Bearer "+u.token)
	response, err := u.client.Do(sent)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 == 2 {
		return response, nil
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1000)) // an incomplete text is enough for the error
	return nil, &statusError{r, response.StatusCode, string(text)}
}

// do sends a request and reads the response.
func (u *user) do(ctx context.Context, r request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	response, err := u.open(ctx, r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// configMap is the part of a ConfigMap that the checks need.
type configMap struct {
	Metadata struct {
		Name              string    `json:"name"`
		ResourceVersion   string    `json:"resourceVersion"`
		CreationTimestamp time.Time `json:"creationTimestamp"`
	} `json:"metadata"`
	Data map[string]string `json:"data"`
}

// configMapList is a page of a list.
type configMapList struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
		Continue        string `json:"continue"`
	} `json:"metadata"`
	Items []configMap `json:"items"`
}

// revision returns the resourceVersion as a number; 0 if it is none.
func (c *configMap) revision() int64 { return number(c.Metadata.ResourceVersion) }

// state returns the state of an object with a sequence number.
func (c *configMap) state() state { return state{true, number(c.Data[sequenceKey]), c.revision()} }

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64) // no number counts as 0, which no invariant allows
	return n
}

// sequenceKey is the key of an object's data with its sequence number.
const sequenceKey = "sequence"

func collection(namespace string) string { return "/api/v1/namespaces/" + namespace + "/configmaps" }

// read returns the state of an object.
func (u *user) read(ctx context.Context, o *object) (state, error) {
	text, err := u.do(ctx, request{method: "GET", path: collection(o.namespace) + "/" + o.name})
	if statusOf(err) == http.StatusNotFound {
		return state{}, nil
	}
	if err != nil {
		return state{}, err
	}
	var c configMap
	if err := json.Unmarshal(text, &c); err != nil {
		return state{}, err
	}
	return c.state(), nil
}

// list returns all objects of a namespace, read in pages of limit objects, and the resourceVersion; limit 0 reads one page.
func (u *user) list(ctx context.Context, namespace string, limit int) ([]configMap, string, error) {
	var all []configMap
	for next := ""; ; {
		text, err := u.do(ctx, request{method: "GET", path: fmt.Sprintf("%s?limit=%d&continue=%s", collection(namespace), limit, next)})
		if err != nil {
			return nil, "", err
		}
		var page configMapList
		if err := json.Unmarshal(text, &page); err != nil {
			return nil, "", err
		}
		all = append(all, page.Items...)
		if next = page.Metadata.Continue; next == "" {
			return all, page.Metadata.ResourceVersion, nil
		}
	}
}
