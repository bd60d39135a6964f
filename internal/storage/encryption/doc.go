// Package encryption encrypts values at rest, as configured by an EncryptionConfiguration of apiserver.config.k8s.io/v1.
//
// # The format of values
//
// A value is stored as Kubernetes stores it in etcd:
//
//	k8s:enc:PROVIDER:v1:KEY:CIPHERTEXT
//
// PROVIDER is aescbc, aesgcm or secretbox, and KEY is the name of the key in the configuration. A value without the prefix k8s:enc: is
// not encrypted (the provider identity). The ciphertext is made by the packages of k8s.io/apiserver, so that a value in etcd can be
// read by kube-apiserver with the same configuration, and the other way round. The path of the value in the store is the
// authenticated data: aesgcm does not decrypt a value that was moved to another path. aescbc and secretbox ignore the path.
//
// # Providers and keys
//
// The first provider of a resource, and of that the first key, encrypts. All providers of the resource decrypt, in the order of the
// configuration. A value that the first key has not encrypted is stale: the next write encrypts it again, even if it changes
// nothing.
//
// # Where to look
//
//	encryption.go  Encryption: Encrypt and Decrypt
//	config.go      the EncryptionConfiguration and its resources
//	reload.go      the reload when the file changes
//	store.go       Store, which encrypts the values of another store; Check, for tools that read values without a Store
package encryption
