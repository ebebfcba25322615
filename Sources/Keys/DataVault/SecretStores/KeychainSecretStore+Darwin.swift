#if canImport(Security)
    import Foundation
    public import Secrets
    import Security

    #if canImport(LocalAuthentication) && !os(tvOS) && !os(watchOS)
        import LocalAuthentication
    #endif

    /// A store that keeps secrets in the keychain of an Apple platform, as generic passwords of this device.
    ///
    /// Items never leave the device, not even in a backup. With an access group, several apps of one team share
    /// them.
    public struct KeychainSecretStore: SecretStore {
        /// The conditions under which an item can be read.
        public enum Protection: Sendable {
            /// Readable while the device is unlocked.
            case whenUnlocked
            /// Readable from the first unlocking after a restart on, also in the background.
            case afterFirstUnlock
            /// Readable after Face ID, Touch ID or Optic ID has recognised the owner. Items are lost if the set
            /// of enrolled faces or fingers changes. Reading shows the system's dialogue and blocks until it is
            /// answered.
            case biometry
        }

        private let service: String
        private let accessGroup: String?
        private let protection: Protection
        private let prompt: String?

        /// Creates a store.
        ///
        /// - Parameters:
        ///   - service: The name that separates the items of one program from others.
        ///   - accessGroup: A group of the app's `keychain-access-groups` entitlement, to share items.
        ///   - protection: The protection of items that are added later; replacing an item keeps its
        ///     protection.
        ///   - prompt: The text of the biometry dialogue, if the system shows one.
        public init(
            service: String = "outpost", accessGroup: String? = nil, protection: Protection = .afterFirstUnlock,
            prompt: String? = nil
        ) {
            self.service = service
            self.accessGroup = accessGroup
            self.protection = protection
            self.prompt = prompt
        }

        /// Returns the bytes of a secret, or `nil`; see ``SecretStore/secret(named:)``.
        public func secret(named name: SecretName) throws(DataVaultError) -> Secret<[UInt8]>? {
            var query = query(name)
            query[kSecReturnData] = true
            query[kSecMatchLimit] = kSecMatchLimitOne
            #if canImport(LocalAuthentication) && !os(tvOS) && !os(watchOS)
                if let prompt {
                    let context = LAContext()
                    context.localizedReason = prompt
                    query[kSecUseAuthenticationContext] = context
                }
            #endif
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &result)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = result as? Data else {
                throw failure("reading", name, status: status)
            }
            return Secret(Array(data))
        }

        /// Stores a secret and replaces one with the same name; see ``SecretStore/set(_:named:)``.
        public func set(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError) {
            let bytes = try DataVaultLimits.checked(secret, name)
            let change = [kSecValueData: Data(bytes)] as CFDictionary
            let status = SecItemUpdate(query(name) as CFDictionary, change)
            if status == errSecItemNotFound { return try add(secret, named: name) }
            guard status == errSecSuccess else { throw failure("keeping", name, status: status) }
        }

        /// Stores a secret under an unused name; see ``SecretStore/add(_:named:)``.
        public func add(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError) {
            var item = query(name)
            item[kSecValueData] = Data(try DataVaultLimits.checked(secret, name))
            switch protection {
            case .whenUnlocked: item[kSecAttrAccessible] = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
            case .afterFirstUnlock: item[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            case .biometry:
                guard
                    let control = SecAccessControlCreateWithFlags(
                        nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .biometryCurrentSet, nil)
                else { throw failure("keeping", name, status: errSecParam) }
                item[kSecAttrAccessControl] = control
            }
            let status = SecItemAdd(item as CFDictionary, nil)
            if status == errSecDuplicateItem { throw .alreadyExists(name: name.text) }
            guard status == errSecSuccess else { throw failure("keeping", name, status: status) }
        }

        /// Removes a secret; see ``SecretStore/remove(named:)``.
        public func remove(named name: SecretName) throws(DataVaultError) {
            let status = SecItemDelete(query(name) as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else {
                throw failure("removing", name, status: status)
            }
        }

        /// Returns the sorted names of all secrets.
        public func names() throws(DataVaultError) -> [SecretName] {
            var query = query(nil)
            query[kSecReturnAttributes] = true
            query[kSecMatchLimit] = kSecMatchLimitAll
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &result)
            if status == errSecItemNotFound { return [] }
            guard status == errSecSuccess, let items = result as? [[CFString: Any]] else {
                throw .system(operation: "listing the keychain", path: service, code: status)
            }
            return items.compactMap { ($0[kSecAttrAccount] as? String).flatMap { try? SecretName($0) } }
                .sorted { $0.text < $1.text }
        }

        private func query(_ name: SecretName?) -> [CFString: Any] {
            var query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrSynchronizable: false,
                kSecUseDataProtectionKeychain: true,
            ]
            if let name { query[kSecAttrAccount] = name.text }
            if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
            return query
        }

        private func failure(_ operation: String, _ name: SecretName, status: OSStatus) -> DataVaultError {
            .system(operation: operation + " in the keychain", path: name.text, code: status)
        }
    }
#endif
