import Crypto
import DataVault
import Foundation
import Secrets

extension PersistentStore {
    static let suffix = ".item"

    struct Draft {
        var path: String
        var writer: ItemWriter
        var opened: OpenedStore
    }

    /// Returns the file name of an item. In an encrypted store it does not reveal the name of the item.
    static func fileName(_ header: ItemHeader, _ policy: StoragePolicy, store: OpenedStore) -> String {
        let text = header.space + ":" + header.name
        if policy.isEncrypted, let names = store.names { return names.pseudonym(of: text) + suffix }
        return "p"
            + SHA256.hash(data: Data(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + suffix
    }

    /// Returns the possible file names of an item. During a conversion there are two, the new one first.
    private func candidates(_ header: ItemHeader, _ store: OpenedStore) -> [String] {
        let new = Self.fileName(header, store.writingPolicy, store: store)
        guard store.marker.target != nil else { return [new] }
        return [new, Self.fileName(header, store.marker.policy, store: store)]
    }

    private func check(_ name: String) throws(PersistenceError) {
        let count = name.utf8.count
        guard count > 0, count <= limits.nameBytes else { throw .illegalName(bytes: count, limit: limits.nameBytes) }
    }

    /// Returns the path of an item, or `nil` if it does not exist.
    func path(of header: ItemHeader) throws(PersistenceError) -> String? {
        try check(header.name)
        guard let store = try open() else { return nil }
        return candidates(header, store).map { folder + "/" + $0 }
            .first { FileManager.default.fileExists(atPath: $0) }
    }

    func reader(_ header: ItemHeader) throws(PersistenceError) -> sending ItemReader? {
        try check(header.name)
        // Another process may convert the item between two checks.
        for _ in 0..<2 {
            guard let store = try open() else { return nil }
            for file in candidates(header, store) {
                guard let reader = try ItemReader(folder + "/" + file, name: header.name, cipher: store.cipher) else {
                    continue
                }
                // An unencrypted item in an encrypted store was added by someone else, and so was the file of
                // another item.
                guard reader.header.name == header.name, reader.header.space == header.space,
                    store.marker.holdsItems(areSealed: reader.isSealed)
                else { throw .damaged(name: header.name) }
                return reader
            }
        }
        return nil
    }

    // MARK: Writing

    func keep(_ bytes: [UInt8], _ header: ItemHeader) async throws(PersistenceError) {
        try await publish(try draft(header, bytes), header)
    }

    /// Returns a complete item whose file does not have its final name yet.
    private func draft(_ header: ItemHeader, _ bytes: [UInt8]) throws(PersistenceError) -> Draft {
        try check(header.name)
        guard bytes.count <= limits.valueBytes else {
            throw .tooLarge(name: header.name, bytes: bytes.count, limit: limits.valueBytes)
        }
        let draft = try draft(header)
        do throws(PersistenceError) {
            try draft.writer.write(bytes)
            try draft.writer.finish()
        } catch {
            discard(draft)
            throw error
        }
        return draft
    }

    func draft(_ header: ItemHeader, _ opened: OpenedStore? = nil) throws(PersistenceError) -> Draft {
        try check(header.name)
        let store: OpenedStore
        if let opened { store = opened } else { store = try openOrMake() }
        let path = folder + "/" + SystemFiles.newPrefix + String(UInt64.random(in: .min ... .max), radix: 36)
        do throws(PersistenceError) {
            let writer = try ItemWriter(path, header, cipher: store.writingCipher)
            Self.protect(path, store.writingPolicy)
            return Draft(path: path, writer: writer, opened: store)
        } catch {
            Foundation.unlink(path)
            throw error
        }
    }

    func discard(_ draft: Draft) { Foundation.unlink(draft.path) }

    /// Renames the file of a complete item to its final name.
    func publish(_ draft: Draft, _ header: ItemHeader) async throws(PersistenceError) {
        do throws(PersistenceError) {
            try await withLock { () throws(PersistenceError) in
                guard let now = try open() else { throw .storeRemoved(folder: folder) }
                if now.marker.envelope != draft.opened.marker.envelope
                    || now.writingPolicy != draft.opened.writingPolicy
                {
                    // The store was converted or its key was changed in the meantime, so the item is written
                    // again. After a change of the key alone, this costs a copy but avoids a special case.
                    try rewrite(draft, header, now: now)
                } else {
                    try rename(draft, header, store: now)
                }
            }
        } catch {
            discard(draft)
            throw error
        }
    }

    private func rewrite(_ old: Draft, _ header: ItemHeader, now: OpenedStore) throws(PersistenceError) {
        guard let reader = try ItemReader(old.path, name: header.name, cipher: old.opened.cipher) else { return }
        let new = try draft(header, now)
        do throws(PersistenceError) {
            while let chunk = try reader.next() { try new.writer.write(chunk) }
            try new.writer.finish()
            try rename(new, header, store: now)
        } catch {
            discard(new)
            throw error
        }
        discard(old)
    }

    func rename(_ draft: Draft, _ header: ItemHeader, store: OpenedStore) throws(PersistenceError) {
        let names = candidates(header, store)
        do throws(DataVaultError) {
            try files.rename(draft.path, to: folder + "/" + names[0])
            for old in names.dropFirst() where old != names[0] { _ = try files.remove(folder + "/" + old) }
            try files.syncDirectory(folder)
        } catch {
            throw PersistenceError(error)
        }
    }

    // MARK: Removing and listing

    func remove(_ header: ItemHeader) async throws(PersistenceError) -> Bool {
        try check(header.name)
        guard try open() != nil else { return false }
        return try await withLock { () throws(PersistenceError) -> Bool in try removeLocked(header) }
    }

    private func removeLocked(_ header: ItemHeader) throws(PersistenceError) -> Bool {
        guard let opened = try open() else { return false }
        var wasThere = false
        for file in candidates(header, opened) {
            do throws(DataVaultError) {
                if try files.remove(folder + "/" + file) { wasThere = true }
            } catch {
                throw PersistenceError(error)
            }
        }
        if wasThere { try sync() }
        return wasThere
    }

    func names(inSpace space: String) throws(PersistenceError) -> [String] {
        guard let store = try open() else { return [] }
        var names: Set<String> = []
        for file in try itemFiles() {
            guard let reader = try? ItemReader(folder + "/" + file, name: file, cipher: store.cipher),
                reader.header.space == space, candidates(reader.header, store).contains(file)
            else { continue }
            names.insert(reader.header.name)
        }
        return names.sorted()
    }

    func itemFiles() throws(PersistenceError) -> [String] {
        do throws(DataVaultError) {
            return try files.names(in: folder).filter { $0.hasSuffix(Self.suffix) }.sorted()
        } catch {
            throw PersistenceError(error)
        }
    }

    func unlink(_ file: String) throws(PersistenceError) {
        do throws(DataVaultError) { _ = try files.remove(folder + "/" + file) } catch { throw PersistenceError(error) }
    }

    func sync() throws(PersistenceError) {
        do throws(DataVaultError) { try files.syncDirectory(folder) } catch { throw PersistenceError(error) }
    }

    // MARK: One at a time

    /// Performs several operations while no other object or process changes the store, so that others see all
    /// or none of them.
    ///
    /// - Parameter body: The operations, which may read as usual and change items by ``putLocked(_:for:)`` and
    ///   ``removeLocked(_:)``.
    func exclusively(
        _ body: @Sendable (isolated PersistentStore) throws(PersistenceError) -> Void
    ) async throws(PersistenceError) {
        _ = try openOrMake()
        try await withLock { () throws(PersistenceError) in try body(self) }
    }

    /// Stores a value. The caller holds the lock.
    func putLocked(_ value: some Encodable, for name: String) throws(PersistenceError) {
        let header = ItemHeader(kind: .value, name: name)
        let draft = try draft(header, encoded(value, for: name))
        do throws(PersistenceError) {
            try rename(draft, header, store: draft.opened)
        } catch {
            discard(draft)
            throw error
        }
    }

    /// Removes an item. The caller holds the lock.
    func removeLocked(_ name: String) throws(PersistenceError) {
        _ = try removeLocked(ItemHeader(kind: .bytes, name: name))
    }

    /// Performs an operation while no other object or process changes the store.
    func withLock<Result: Sendable>(
        _ body: () throws(PersistenceError) -> Result
    ) async throws(PersistenceError) -> Result {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(Self.lockPatience)
        while true {
            if let lock = try tryLock() {
                defer { withExtendedLifetime(lock) {} }
                return try body()
            }
            guard clock.now < deadline else { throw .busy(folder: folder) }
            do {
                try await Task.sleep(for: .milliseconds(5))
            } catch {
                throw .cancelled
            }
        }
    }

    private func tryLock() throws(PersistenceError) -> FileLock? {
        do throws(DataVaultError) {
            guard let lock = try files.lock(folder + "/lock") else { return nil }
            try files.removeLeftovers(in: folder)
            return lock
        } catch {
            throw PersistenceError(error)
        }
    }

    /// Sets the file protection class, if the platform supports it.
    static func protect(_ path: String, _ policy: StoragePolicy) {
        #if canImport(Darwin)
            let protection: FileProtectionType =
                switch policy {
                case .full: .complete
                case .afterFirstUnlock: .completeUntilFirstUserAuthentication
                case .unprotected: .none
                }
            // Simulators and macOS have no protection classes; the item is still encrypted by its key.
            try? FileManager.default.setAttributes([.protectionKey: protection], ofItemAtPath: path)
        #endif
    }
}
