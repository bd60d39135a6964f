package authn

import (
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Tokens are who has which token. They are kept as hashes, so that how long a lookup takes tells
// nothing about them, and none can be printed by accident.
type Tokens struct {
	users map[[sha256.Size]byte]*User
}

// ReadTokens reads a file in the form of Kubernetes' --token-auth-file: one token a line, with
// the user's name, its uid, and, if there are any, its groups in quotes.
func ReadTokens(name string) (*Tokens, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read the tokens: %w", err)
	}
	defer file.Close()
	tokens, err := parseTokens(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return tokens, nil
}

func parseTokens(from io.Reader) (*Tokens, error) {
	tokens := &Tokens{users: map[[sha256.Size]byte]*User{}}
	reader := csv.NewReader(from)
	reader.FieldsPerRecord = -1
	for {
		record, err := reader.Read()
		if err == io.EOF {
			return tokens, nil
		}
		if err != nil {
			return nil, err // it has the line, and nothing of what is there
		}
		line, _ := reader.FieldPos(0)
		if err := tokens.add(record); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// add takes one line. What it says must not contain the token.
func (t *Tokens) add(record []string) error {
	if len(record) < 3 {
		return fmt.Errorf(`expected at least 3 columns (token,user,uid,"group1,group2"), received %d`, len(record))
	}
	switch {
	case record[0] == "":
		return errors.New("expected a token in the first column, received none")
	case record[1] == "":
		return errors.New("expected the name of a user in the second column, received none")
	}
	hash := sha256.Sum256([]byte(record[0]))
	if other := t.users[hash]; other != nil {
		return fmt.Errorf("expected another token for user %q, received the one of user %q: a token says who somebody is, so each is for one user", record[1], other.Name)
	}
	user := &User{Name: record[1], UID: record[2]}
	if len(record) > 3 {
		user.Groups = slices.DeleteFunc(strings.Split(record[3], ","), func(g string) bool { return g == "" })
	}
	t.users[hash] = user.Complete()
	return nil
}

// User returns who has a token, or nil.
func (t *Tokens) User(token string) *User {
	if t == nil {
		return nil
	}
	return t.users[sha256.Sum256([]byte(token))]
}
