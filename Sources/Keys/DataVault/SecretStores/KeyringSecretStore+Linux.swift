#if !canImport(Darwin)
    import CLinux
    public import Secrets

    #if canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    /// A store that keeps secrets in the kernel's memory, in the keyring of the user. They are never on a disk,
    /// and are lost when the machine stops or the user's last process ends.
    ///
    /// Use this store for secrets that can be obtained again, such as the master key of a ``SealedSecretStore``
    /// that a person unlocks after each start. A vault whose keys are here is lost at the next start of the
    /// machine.
    ///
    /// The keyring protects against other users, backups and disk theft. It does not protect against the
    /// administrator or other programs of the same user. Containers often forbid the system calls; every
    /// function then throws ``DataVaultError/system(operation:path:code:)`` with `EPERM` or `ENOSYS`. The
    /// kernel limits each user to about 20 kB in total (`/proc/sys/kernel/keys/maxbytes`); beyond the limit the
    /// code is `EDQUOT`.
    public struct KeyringSecretStore: SecretStore {
        /// The name of the keyring within the user's keyring.
        public let name: String

        /// - Parameter name: The name of the keyring. Programs with the same name share their secrets.
        public init(name: String = "outpost") {
            self.name = name
        }

        /// Returns the bytes of a secret, or `nil`; see ``SecretStore/secret(named:)``.
        public func secret(named name: SecretName) throws(DataVaultError) -> Secret<[UInt8]>? {
            let keyring = try keyring()
            guard let key = try find(name, in: keyring) else { return nil }
            return Secret(try read(key, name: name.text))
        }

        /// Stores a secret and replaces one with the same name; see ``SecretStore/set(_:named:)``.
        public func set(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError) {
            let bytes = try DataVaultLimits.checked(secret, name)
            // The kernel refuses a key without content.
            guard outpost_key_set(try keyring(), name.text, bytes + [0], bytes.count + 1) >= 0 else {
                throw failure("keeping", name.text)
            }
        }

        /// Stores a secret under an unused name.
        ///
        /// The kernel has no such call: if two processes add the same name at the same moment, the later one
        /// wins.
        public func add(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError) {
            guard try find(name, in: keyring()) == nil else { throw .alreadyExists(name: name.text) }
            try set(secret, named: name)
        }

        /// Removes a secret; see ``SecretStore/remove(named:)``.
        public func remove(named name: SecretName) throws(DataVaultError) {
            let keyring = try keyring()
            guard let key = try find(name, in: keyring) else { return }
            guard outpost_key_unlink(key, keyring) == 0 else { throw failure("removing", name.text) }
        }

        /// Returns the sorted names of all secrets.
        public func names() throws(DataVaultError) -> [SecretName] {
            let content = try read(try keyring(), name: name, hasMark: false)
            let size = MemoryLayout<outpost_key_serial>.size
            var names: [SecretName] = []
            for start in stride(from: 0, to: content.count - content.count % size, by: size) {
                let key = content.withUnsafeBytes {
                    $0.loadUnaligned(fromByteOffset: start, as: outpost_key_serial.self)
                }
                // The format of a description: "type;uid;gid;permissions;name".
                var text = [CChar](repeating: 0, count: 256)
                guard outpost_key_describe(key, &text, text.count) > 0 else { continue }
                let description = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                let fields = description.split(separator: ";", maxSplits: 4)
                if fields.count == 5, fields[0] == "user", let name = try? SecretName(String(fields[4])) {
                    names.append(name)
                }
            }
            return names.sorted { $0.text < $1.text }
        }

        private func keyring() throws(DataVaultError) -> outpost_key_serial {
            let user = outpost_user_keyring()
            guard user >= 0 else { throw failure("opening", "user keyring") }
            let keyring = outpost_keyring(user, name)
            guard keyring >= 0 else { throw failure("opening", name) }
            return keyring
        }

        private func find(
            _ name: SecretName, in keyring: outpost_key_serial
        ) throws(DataVaultError) -> outpost_key_serial? {
            let key = outpost_key_find(keyring, name.text)
            if key >= 0 { return key }
            guard errno == ENOKEY || errno == EKEYREVOKED || errno == EKEYEXPIRED else {
                throw failure("finding", name.text)
            }
            return nil
        }

        private func read(
            _ key: outpost_key_serial, name: String, hasMark: Bool = true
        ) throws(DataVaultError) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: DataVaultLimits.maximumSecretByteCount + 1)
            defer { wipe(&bytes) }
            let count = outpost_key_read(key, &bytes, bytes.count)
            guard count >= 0, count <= bytes.count else { throw failure("reading", name) }
            return Array(bytes[..<max(0, hasMark ? count - 1 : count)])
        }

        private func failure(_ operation: String, _ path: String) -> DataVaultError {
            .system(operation: operation + " in the kernel keyring", path: path, code: errno)
        }
    }
#endif
