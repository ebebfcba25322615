public import Secrets

extension Vault {
    /// The names and types of all values, sorted by name.
    ///
    /// - Throws: ``DataVaultError``: `locked`, `noVault`, `damaged`.
    public var items: [VaultItem] {
        get throws(DataVaultError) {
            var content = try content().content
            defer { content.wipeValues() }
            return content.values.map { VaultItem(name: $0.key, type: $0.value.type) }.sorted { $0.name < $1.name }
        }
    }

    /// Returns a text value.
    ///
    /// - Parameter name: The name of the value.
    /// - Returns: `nil` if no value has this name, or if the value is not a text. A value of unknown type is a
    ///   text if it is valid UTF-8.
    /// - Throws: ``DataVaultError``: `locked`, `noVault`, `damaged`.
    public func string(named name: String) throws(DataVaultError) -> String? {
        guard var value = try value(name), value.type != .binary else { return nil }
        defer { wipe(&value.bytes) }
        return String(validating: value.bytes, as: UTF8.self)
    }

    /// Returns a binary value.
    ///
    /// - Parameter name: The name of the value.
    /// - Returns: `nil` if no value has this name, or if the value is a text.
    /// - Throws: ``DataVaultError``: `locked`, `noVault`, `damaged`.
    public func data(named name: String) throws(DataVaultError) -> [UInt8]? {
        guard let value = try value(name), value.type != .string else { return nil }
        return value.bytes
    }

    /// Stores a text and replaces any value with the same name.
    ///
    /// - Parameters:
    ///   - text: At most ``DataVaultLimits/maximumSecretByteCount`` bytes in UTF-8.
    ///   - name: 1 to ``DataVaultLimits/maximumValueNameByteCount`` bytes in UTF-8.
    /// - Throws: ``DataVaultError``: `locked`, `noVault`, `illegalValueName`, `tooLong`, `full`, `damaged`,
    ///   `busy`, `cancelled`, and errors of the file system.
    public func setString(_ text: String, named name: String) async throws(DataVaultError) {
        try await set(Array(text.utf8), .string, name: name)
    }

    /// Stores bytes and replaces any value with the same name.
    ///
    /// - Parameters:
    ///   - bytes: At most ``DataVaultLimits/maximumSecretByteCount`` bytes.
    ///   - name: 1 to ``DataVaultLimits/maximumValueNameByteCount`` bytes in UTF-8.
    /// - Throws: The errors of ``setString(_:named:)``.
    public func setData(_ bytes: [UInt8], named name: String) async throws(DataVaultError) {
        try await set(bytes, .binary, name: name)
    }

    /// Stores a value that an older product kept without a type, to migrate an app.
    ///
    /// - Parameters:
    ///   - record: The bytes of the value.
    ///   - name: The name of the value.
    /// - Throws: The errors of ``setString(_:named:)``.
    public func setUntyped(_ record: [UInt8], named name: String) async throws(DataVaultError) {
        try await set(record, .unknown, name: name)
    }

    /// Removes a value.
    ///
    /// - Parameter name: The name of the value.
    /// - Returns: Whether the value existed.
    /// - Throws: ``DataVaultError``: `locked`, `noVault`, `damaged`, `busy`, `cancelled`.
    @discardableResult
    public func removeValue(named name: String) async throws(DataVaultError) -> Bool {
        var wasThere = false
        try await change { content throws(DataVaultError) in
            wasThere = content.values.removeValue(forKey: name) != nil
        }
        return wasThere
    }

    // MARK: Keys

    /// Returns the key of a database or another store, and creates it if no value has this name.
    ///
    /// ```swift
    /// let key = try await vault.key(named: "orders")
    /// let store = try await OfflineStore.open(at: directory, protection: .encrypted(.key(key)))
    /// ```
    ///
    /// - Parameter name: The name of the value that contains the key.
    /// - Returns: A key of 256 random bits, which is durable.
    /// - Throws: ``DataVaultError``: `notAKey` if the value is not a key, and errors of ``setData(_:named:)``.
    public func key(named name: String) async throws(DataVaultError) -> EncryptionKey {
        if let value = try value(name) { return try Self.key(value, name) }
        try Self.check(name, EncryptionKey.byteCount)
        let fresh = EncryptionKey.generate()
        var kept = fresh
        try await change { content throws(DataVaultError) in
            if let value = content.values[name] {
                // Another process created the key meanwhile.
                kept = try Self.key(value, name)
            } else {
                content.values[name] = .init(type: .binary, bytes: fresh.withUnsafeBytes { Array($0) })
            }
        }
        return kept
    }

    private static func key(_ value: VaultContent.Value, _ name: String) throws(DataVaultError) -> EncryptionKey {
        guard value.type != .string, let key = try? EncryptionKey(bytes: value.bytes) else {
            throw .notAKey(name: name)
        }
        return key
    }

    private func value(_ name: String) throws(DataVaultError) -> VaultContent.Value? {
        var content = try content().content
        let value = content.values.removeValue(forKey: name)
        content.wipeValues()
        return value
    }

    private func set(_ bytes: [UInt8], _ type: VaultItem.ValueType, name: String) async throws(DataVaultError) {
        try Self.check(name, bytes.count)
        try await change { content throws(DataVaultError) in
            content.values[name] = VaultContent.Value(type: type, bytes: bytes)
        }
    }

    private static func check(_ name: String, _ byteCount: Int) throws(DataVaultError) {
        guard (1...DataVaultLimits.maximumValueNameByteCount).contains(name.utf8.count) else {
            throw .illegalValueName(bytes: name.utf8.count)
        }
        guard byteCount <= DataVaultLimits.maximumSecretByteCount else { throw .tooLong(name: name, bytes: byteCount) }
    }
}
