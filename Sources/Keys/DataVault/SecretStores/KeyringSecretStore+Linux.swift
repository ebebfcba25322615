#if !canImport(Darwin)
    import CLinux
    public import Secrets

    #if canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    /// Secrets in the kernel's memory, in the keyring of the user: they reach no disk, and end with the
    /// machine's run, or when the user's last process ends.
    ///
    /// Fit for what can be had again: the master key of a ``SealedSecretStore`` that a person unlocks once
    /// after each start. A vault whose keys are here is lost at the next start of the machine.
    ///
    /// It keeps other users out, backups and whoever holds the disk; not the administrator, nor other programs
    /// of the same user. Containers often forbid the system calls; every function then throws
    /// ``DataVaultError/system(operation:path:code:)`` with `EPERM` or `ENOSYS`. The kernel allows a user 20 kB
    /// or so in all (`/proc/sys/kernel/keys/maxbytes`), beyond which `EDQUOT`.
    public struct KeyringSecretStore: SecretStore {
        /// The name of the keyring inside the user's.
        public let name: String

        /// - Parameter name: Programs that use the same name share their secrets.
        public init(name: String = "outpost") {
            self.name = name
        }

        /// The bytes of a secret, or nil; see ``SecretStore/secret(named:)``.
        public func secret(named name: SecretName) throws(DataVaultError) -> Secret<[UInt8]>? {
            let keyring = try keyring()
            guard let key = try find(name, in: keyring) else { return nil }
            return Secret(try read(key, name: name.text))
        }

        /// Keeps a secret in place of one of the same name; see ``SecretStore/set(_:named:)``.
        public func set(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError) {
            let bytes = try DataVaultLimits.checked(secret, name)
            // The kernel refuses a key without content.
            guard outpost_key_set(try keyring(), name.text, bytes + [0], bytes.count + 1) >= 0 else {
                throw failure("keeping", name.text)
            }
        }

        /// Keeps a secret under a name that is not in use.
        ///
        /// The kernel has no such call: of two processes that add the same name at the same moment, the later
        /// one wins.
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

        /// The names of all secrets, sorted.
        public func names() throws(DataVaultError) -> [SecretName] {
            let content = try read(try keyring(), name: name, hasMark: false)
            let size = MemoryLayout<outpost_key_serial>.size
            var names: [SecretName] = []
            for start in stride(from: 0, to: content.count - content.count % size, by: size) {
                let key = content.withUnsafeBytes {
                    $0.loadUnaligned(fromByteOffset: start, as: outpost_key_serial.self)
                }
                // "type;uid;gid;permissions;name"
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
