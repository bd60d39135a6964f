package authn

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"k8s.io/apiserver/pkg/authentication/authenticator"
)

// Tokens authenticates static bearer tokens. It stores hashes of the tokens, so that the duration of a lookup reveals nothing
// about the tokens, and no token can be logged. The zero value and nil accept no token. It is safe for concurrent use.
type Tokens struct{ current atomic.Pointer[tokenTable] }

// tokenTable maps the hash of each token to the response for it.
type tokenTable map[[sha256.Size]byte]*authenticator.Response

// Reload replaces all tokens by those of content, the content of the file with the given name in the format of kube-apiserver's
// --token-auth-file: CSV with the columns token, user name, uid and, optionally, a quoted list of groups. If content is invalid,
// nothing is changed.
func (t *Tokens) Reload(name string, content []byte) error {
	table, err := parseTokens(bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	t.current.Store(&table)
	return nil
}

func parseTokens(from io.Reader) (tokenTable, error) {
	tokens := tokenTable{}
	reader := csv.NewReader(from)
	reader.FieldsPerRecord = -1
	for {
		record, err := reader.Read()
		if err == io.EOF {
			return tokens, nil
		}
		if err != nil {
			return nil, err // the error contains the line and column, but not the content
		}
		line, _ := reader.FieldPos(0)
		if err := tokens.add(record); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// add adds the token of one record of the file. Its errors must not contain the token.
func (t tokenTable) add(record []string) error {
	if len(record) < 3 {
		return fmt.Errorf(`expected at least 3 columns (token,user,uid,"group1,group2"), received %d`, len(record))
	}
	switch {
	case record[0] == "":
		return errors.New("the token in the first column must not be empty")
	case record[1] == "":
		return errors.New("the user name in the second column must not be empty")
	}
	hash := sha256.Sum256([]byte(record[0]))
	if other := t[hash]; other != nil {
		return fmt.Errorf("expected a token of its own for user %q, received the token of user %q; a token identifies one user", record[1], other.User.GetName())
	}
	user := &User{Name: record[1], UID: record[2]}
	if len(record) > 3 {
		user.Groups = slices.DeleteFunc(strings.Split(record[3], ","), func(g string) bool { return g == "" })
	}
	t[hash] = &authenticator.Response{User: WithImpliedGroup(user)}
	return nil
}

// AuthenticateToken implements authenticator.Token. It returns false and no error for an unknown token.
func (t *Tokens) AuthenticateToken(_ context.Context, token string) (*authenticator.Response, bool, error) {
	if t == nil {
		return nil, false, nil
	}
	table := t.current.Load()
	if table == nil {
		return nil, false, nil
	}
	response := (*table)[sha256.Sum256([]byte(token))]
	return response, response != nil, nil
}
