package encryption

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/apis/apiserver"
	apiserverv1 "k8s.io/apiserver/pkg/apis/apiserver/v1"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	"k8s.io/apiserver/pkg/storage/value"
	aestransformer "k8s.io/apiserver/pkg/storage/value/encrypt/aes"
	"k8s.io/apiserver/pkg/storage/value/encrypt/secretbox"
)

// configuration is a loaded EncryptionConfiguration.
type configuration struct {
	// sum identifies the contents of the file.
	sum [sha256.Size]byte
	// keys are the keys by resource, in the order in which they are tried. A resource that has no entry has the keys of its group's
	// wildcard, or else those of all resources, or else none.
	keys map[schema.GroupResource][]key
}

// key encrypts and decrypts values. prefix is the text before the ciphertext. The zero value is the provider identity.
type key struct {
	prefix string
	value.Transformer
}

// identity is the provider that does not encrypt.
var identity = []key{{}}

// all is the wildcard for all resources.
var all = schema.GroupResource{Group: "*", Resource: "*"}

// of returns the keys of a resource.
func (c *configuration) of(resource schema.GroupResource) []key {
	for _, r := range []schema.GroupResource{resource, {Group: resource.Group, Resource: "*"}, all} {
		if keys := c.keys[r]; keys != nil {
			return keys
		}
	}
	return identity
}

// load reads and checks an EncryptionConfiguration. Errors do not contain keys.
func load(file string) (*configuration, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("encryption configuration: %w", err)
	}
	c := &configuration{sum: sha256.Sum256(text), keys: map[schema.GroupResource][]key{}}
	parsed, err := decode(text)
	if err == nil {
		err = c.add(parsed)
	}
	if err != nil {
		return nil, fmt.Errorf("encryption configuration %s: %w", file, err)
	}
	return c, nil
}

// decode parses and validates the text of an EncryptionConfiguration.
func decode(text []byte) (*apiserver.EncryptionConfiguration, error) {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apiserver.AddToScheme, apiserverv1.AddToScheme} {
		if err := add(known); err != nil {
			return nil, err
		}
	}
	object, kind, err := serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return nil, err
	}
	parsed, ok := object.(*apiserver.EncryptionConfiguration)
	if !ok {
		return nil, fmt.Errorf("expected an EncryptionConfiguration of apiserver.config.k8s.io/v1, received %s", kind)
	}
	for i, resource := range parsed.Resources {
		for j, provider := range resource.Providers {
			if provider.KMS != nil {
				return nil, fmt.Errorf("resources[%d].providers[%d].kms: expected aescbc, aesgcm, secretbox or identity, received kms, which is not supported; "+
					"use a local key, for instance of the provider secretbox, in a file that only the server can read", i, j)
			}
		}
	}
	return parsed, validation.ValidateEncryptionConfiguration(parsed, false).ToAggregate()
}

// add adds the resources of a valid EncryptionConfiguration.
func (c *configuration) add(parsed *apiserver.EncryptionConfiguration) error {
	for i, entry := range parsed.Resources {
		var keys []key
		for j, provider := range entry.Providers {
			added, err := providerKeys(provider)
			if err != nil {
				return fmt.Errorf("resources[%d].providers[%d]: %w", i, j, err)
			}
			keys = append(keys, added...)
		}
		for _, name := range entry.Resources {
			resource := schema.ParseGroupResource(name)
			for _, earlier := range []schema.GroupResource{{Group: resource.Group, Resource: "*"}, all} {
				if c.keys[earlier] != nil {
					return fmt.Errorf("resources[%d].resources: expected resources that no earlier entry covers, received %q after %q; move it before that entry", i, name, spell(earlier))
				}
			}
			c.keys[resource] = append(c.keys[resource], keys...)
		}
	}
	return nil
}

// spell returns a resource as it is written in the configuration.
func spell(resource schema.GroupResource) string {
	if resource.Group == "" && resource.Resource == "*" {
		return "*."
	}
	return resource.String()
}

// providerKeys returns the keys of a provider.
func providerKeys(p apiserver.ProviderConfiguration) ([]key, error) {
	switch {
	case p.AESGCM != nil:
		return readKeys("aesgcm", p.AESGCM.Keys, newAES(aestransformer.NewGCMTransformer))
	case p.AESCBC != nil:
		return readKeys("aescbc", p.AESCBC.Keys, newAES(func(block cipher.Block) (value.Transformer, error) {
			return cbc{aestransformer.NewCBCTransformer(block)}, nil
		}))
	case p.Secretbox != nil:
		return readKeys("secretbox", p.Secretbox.Keys, func(secret []byte) (value.Transformer, error) {
			return secretbox.NewSecretboxTransformer([32]byte(secret)), nil
		})
	case p.Identity != nil:
		return identity, nil
	default:
		return nil, errors.New("expected one of aescbc, aesgcm, secretbox and identity, found none")
	}
}

// newAES returns a function that makes a transformer from an AES key.
func newAES(transformer func(cipher.Block) (value.Transformer, error)) func(secret []byte) (value.Transformer, error) {
	return func(secret []byte) (value.Transformer, error) {
		block, err := aes.NewCipher(secret)
		if err != nil {
			return nil, err
		}
		return transformer(block)
	}
}

func readKeys(provider string, configured []apiserver.Key, transformer func(secret []byte) (value.Transformer, error)) ([]key, error) {
	var keys []key
	for _, k := range configured {
		secret, err := base64.StdEncoding.DecodeString(k.Secret)
		if err != nil {
			return nil, fmt.Errorf("%s: key %s: expected a secret in base64", provider, k.Name)
		}
		made, err := transformer(secret)
		if err != nil {
			return nil, fmt.Errorf("%s: key %s: %w", provider, k.Name, err)
		}
		keys = append(keys, key{Prefix + provider + ":v1:" + k.Name + ":", made})
	}
	return keys, nil
}
