package encryption

import (
	"context"
	"crypto/aes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage/value"
)

// Prefix is the start of every encrypted value, of any provider.
const Prefix = "k8s:enc:"

// Transformer encrypts and decrypts the values of resources. path is the location of the value in the store. *Encryption implements
// it.
type Transformer interface {
	// Encrypt returns the bytes to store for a value. The caller must not modify the value afterwards.
	Encrypt(resource schema.GroupResource, path string, value []byte) ([]byte, error)
	// Decrypt returns the value for stored bytes. stale reports whether Encrypt would now use another key or none. It returns a
	// *Error if no configured key decrypts the value.
	Decrypt(resource schema.GroupResource, path string, stored []byte) (value []byte, stale bool, err error)
}

// Encryption is a Transformer with the keys of an EncryptionConfiguration, which can be reloaded. It is safe for concurrent use.
type Encryption struct {
	file    string
	current atomic.Pointer[configuration]
	// reloaded is called after the keys have changed; nil if nothing depends on them.
	reloaded atomic.Pointer[func()]
}

var _ Transformer = (*Encryption)(nil)

// Open returns an Encryption with the keys of an EncryptionConfiguration. If file is "", no resource is encrypted, and encrypted values
// cannot be read.
func Open(file string) (*Encryption, error) {
	e := &Encryption{file: file}
	if file == "" {
		e.current.Store(&configuration{sum: sha256.Sum256(nil)})
		return e, nil
	}
	c, err := load(file)
	if err != nil {
		return nil, err
	}
	e.current.Store(c)
	return e, nil
}

// IsConfigured reports whether there is an EncryptionConfiguration.
func (e *Encryption) IsConfigured() bool { return e.file != "" }

// Error reports that a stored value cannot be decrypted. It contains neither the value nor a key.
type Error struct {
	// Key identifies the key that has encrypted the value, as PROVIDER:VERSION:NAME; "" if the value is not encrypted.
	Key string
	// Err is the error of the configured key with this name; nil if there is no such key.
	Err error
}

func (e *Error) Error() string {
	switch {
	case e.Key == "":
		return "the value is not encrypted, and the encryption configuration of its resource lacks the provider identity; add it"
	case e.Err == nil:
		return "the value is encrypted with the key " + e.Key + ", which the encryption configuration of its resource lacks; add it"
	default:
		return fmt.Sprintf("the value is encrypted with the key %s, and the configured key of this name does not decrypt it (%v); correct the key, or restore the value from a backup", e.Key, e.Err)
	}
}

// Unwrap returns the error of the key.
func (e *Error) Unwrap() error { return e.Err }

// Encrypt implements Transformer.
func (e *Encryption) Encrypt(resource schema.GroupResource, path string, plain []byte) ([]byte, error) {
	k := e.current.Load().of(resource)[0]
	if k.Transformer == nil {
		return plain, nil
	}
	encrypted, err := k.TransformToStorage(context.Background(), plain, value.DefaultContext(path))
	if err != nil {
		return nil, fmt.Errorf("encrypt %s with %s: %w", path, k.name(), err)
	}
	stored := make([]byte, 0, len(k.prefix)+len(encrypted))
	return append(append(stored, k.prefix...), encrypted...), nil
}

// Decrypt implements Transformer.
func (e *Encryption) Decrypt(resource schema.GroupResource, path string, stored []byte) (plain []byte, stale bool, err error) {
	encrypted := strings.HasPrefix(string(stored[:min(len(stored), len(Prefix))]), Prefix)
	failure := &Error{}
	for i, k := range e.current.Load().of(resource) {
		switch {
		case k.Transformer == nil:
			if !encrypted {
				return stored, i > 0, nil
			}
		case encrypted && len(stored) >= len(k.prefix) && string(stored[:len(k.prefix)]) == k.prefix:
			plain, _, err := k.TransformFromStorage(context.Background(), stored[len(k.prefix):], value.DefaultContext(path))
			if err == nil {
				if plain == nil { // aesgcm returns nil for an empty value, which a store would take for a deletion
					plain = []byte{}
				}
				return plain, i > 0, nil
			}
			failure.Err = err // another key may have the same name
		}
	}
	if encrypted {
		failure.Key = keyName(stored)
	}
	return nil, false, failure
}

// name returns the name of a key for messages, as PROVIDER:v1:NAME.
func (k key) name() string { return strings.TrimSuffix(strings.TrimPrefix(k.prefix, Prefix), ":") }

// maxKeyName is the maximum number of bytes of an encrypted value in which its key is looked for.
const maxKeyName = 300

// keyName returns the provider, version and name of the key in the prefix of an encrypted value.
func keyName(stored []byte) string {
	parts := strings.SplitN(string(stored[len(Prefix):min(len(stored), maxKeyName)]), ":", 4)
	if len(parts) < 4 {
		return "unknown"
	}
	return strings.ToValidUTF8(strings.Join(parts[:3], ":"), "?")
}

// cbc is the transformer of aescbc. That of k8s.io/apiserver panics if the value ends after the initialization vector.
type cbc struct{ value.Transformer }

// TransformFromStorage implements value.Transformer.
func (c cbc) TransformFromStorage(ctx context.Context, stored []byte, path value.Context) ([]byte, bool, error) {
	if len(stored) < 2*aes.BlockSize {
		return nil, false, errors.New("the stored data was shorter than the required size")
	}
	return c.Transformer.TransformFromStorage(ctx, stored, path)
}
