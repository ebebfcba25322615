import DataVault
import Foundation
public import ODataService
import Secrets

/// An encrypted store for the data of an app: `Codable` values, bytes, streams and snapshots of caches, by
/// name, in a folder. Encryption can be disabled by the policy.
///
/// ```swift
/// struct Settings: Codable { var theme: String }
///
/// let name = try SecretName("cache")
/// let store = PersistentStore(folder: folder, key: .generated(in: keys, named: name))
/// try await store.put(Settings(theme: "dark"), for: "settings")
/// let settings = try await store.value(Settings.self, for: "settings")
/// ```
///
/// Each item has its own file, which is written atomically and is durable when the call returns. A crash does
/// not lose stored items, and a damaged item does not affect others. Objects and processes may share a folder.
/// File names do not reveal the names of items.
///
/// Nothing is erased implicitly: opening a store with another policy is an error. ``changePolicy(to:)``,
/// ``changeKey(to:)`` and ``move(to:)`` convert a store.
public actor PersistentStore {
    /// The size limits of items.
    ///
    /// ```swift
    /// let limits = PersistentStore.Limits(valueBytes: 1 << 20)
    /// let files = PersistentStore(
    ///     folder: folder, key: .generated(in: keys, named: try SecretName("cache")), limits: limits)
    /// ```
    public struct Limits: Hashable, Sendable {
        /// The maximum number of bytes of a value or byte array, 64 MiB by default. Streams and snapshots have
        /// no limit.
        public var valueBytes: Int
        /// The maximum number of UTF-8 bytes of a name, 1,024 by default.
        public var nameBytes: Int

        /// Creates limits.
        public init(valueBytes: Int = 64 << 20, nameBytes: Int = 1024) {
            self.valueBytes = valueBytes
            self.nameBytes = nameBytes
        }
    }

    /// The number of seconds to wait for a store that another process has locked.
    public static let lockPatience = 30.0

    /// The folder of the store.
    public private(set) var folder: String
    /// The protection of items.
    public private(set) var policy: StoragePolicy
    /// The size limits of items.
    public let limits: Limits

    private var key: StoreKey?
    private var opened: OpenedStore?
    private var hasBeenOpen = false
    let files = SystemFiles()

    /// Creates a store. The folder is created when the first item is stored.
    ///
    /// - Parameters:
    ///   - folder: The folder, used only by this store; `nil` for ``defaultFolder()``.
    ///   - policy: The protection of items. A folder with another policy is refused at the first use.
    ///   - key: The source of the key. Without one, an encrypted store throws
    ///     ``PersistenceError/keyMissing(folder:)`` at the first use, until ``setKey(_:)`` is called.
    ///   - limits: The size limits of items.
    public init(
        folder: String? = nil, policy: StoragePolicy = .full, key: StoreKey? = nil, limits: Limits = Limits()
    ) {
        self.folder = folder ?? Self.defaultFolder()
        self.policy = policy
        self.key = key
        self.limits = limits
    }

    /// Returns `$XDG_CACHE_HOME/outpost/store` or `~/.cache/outpost/store`. On Apple platforms, it is
    /// `outpost/store` in the caches of the app, which the system may clear.
    public static func defaultFolder() -> String {
        #if canImport(Darwin)
            let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first?.path
            return (caches ?? NSTemporaryDirectory()) + "/outpost/store"
        #else
            return defaultFolder(environment: ProcessInfo.processInfo.environment)
        #endif
    }

    static func defaultFolder(environment: [String: String]) -> String {
        // The XDG base directory specification requires that relative paths are ignored.
        if let cache = environment["XDG_CACHE_HOME"], cache.hasPrefix("/") { return cache + "/outpost/store" }
        if let home = environment["HOME"], home.hasPrefix("/") { return home + "/.cache/outpost/store" }
        return NSTemporaryDirectory() + "outpost/store"
    }

    /// Sets the key, or another source of the same key.
    public func setKey(_ key: StoreKey) {
        self.key = key
        opened = nil
    }

    // MARK: Values, bytes and streams

    /// Stores a value in place of any item of that name.
    ///
    /// - Throws: ``PersistenceError``.
    public func put(_ value: some Encodable & Sendable, for name: String) async throws(PersistenceError) {
        try await keep(try encoded(value, for: name), ItemHeader(kind: .value, name: name))
    }

    func encoded(_ value: some Encodable, for name: String) throws(PersistenceError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(value))
        } catch {
            throw .unencodable(name: name)
        }
    }

    /// Returns a value, or `nil` if there is no item of that name.
    ///
    /// - Throws: ``PersistenceError``; `undecodable` if the item has another type.
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, for name: String
    ) throws(PersistenceError) -> Value? {
        guard let reader = try reader(ItemHeader(kind: .value, name: name)) else { return nil }
        let bytes = try reader.all(limit: limits.valueBytes)
        guard reader.header.kind == .value, let value = try? JSONDecoder().decode(type, from: Data(bytes)) else {
            throw .undecodable(name: name, expected: "\(type)")
        }
        return value
    }

    /// Stores bytes in place of any item of that name.
    ///
    /// - Throws: ``PersistenceError``.
    public func putBytes(_ bytes: [UInt8], for name: String) async throws(PersistenceError) {
        try await keep(bytes, ItemHeader(kind: .bytes, name: name))
    }

    /// Returns the bytes of an item, even if it was stored as a stream; `nil` if there is none.
    ///
    /// - Throws: ``PersistenceError``; `tooLarge` for a stream beyond the limit.
    public func bytes(for name: String) throws(PersistenceError) -> [UInt8]? {
        guard let reader = try reader(ItemHeader(kind: .bytes, name: name)) else { return nil }
        return try reader.all(limit: limits.valueBytes)
    }

    /// Stores a stream of any length in place of any item of that name. At most two chunks are in memory.
    ///
    /// - Throws: ``PersistenceError``, and the errors of the stream; the previous item is then kept.
    public func putStream(_ stream: ByteStream, for name: String) async throws {
        let header = ItemHeader(kind: .stream, name: name)
        let draft = try draft(header)
        do {
            while let chunk = try await stream.next() { try draft.writer.write(chunk) }
            try draft.writer.finish()
        } catch {
            discard(draft)
            throw error
        }
        try await publish(draft, header)
    }

    /// Returns the bytes of an item as a stream that is read on demand; `nil` if there is none. A started
    /// stream continues with the old content, even if the item is replaced.
    ///
    /// - Throws: ``PersistenceError``; the stream throws `damaged` if the item was altered.
    public func stream(for name: String) throws(PersistenceError) -> ByteStream? {
        guard let reader = try reader(ItemHeader(kind: .stream, name: name)) else { return nil }
        let source = ItemSource(reader)
        return ByteStream { try await source.next() }
    }

    /// Returns whether an item of that name exists, damaged or not.
    ///
    /// - Throws: ``PersistenceError``.
    public func contains(_ name: String) throws(PersistenceError) -> Bool {
        try path(of: ItemHeader(kind: .bytes, name: name)) != nil
    }

    /// Removes an item, damaged or not.
    ///
    /// - Returns: Whether it existed.
    /// - Throws: ``PersistenceError``.
    @discardableResult
    public func remove(_ name: String) async throws(PersistenceError) -> Bool {
        try await remove(ItemHeader(kind: .bytes, name: name))
    }

    /// Returns the names of all items except snapshots, sorted. Items with a damaged header are left out.
    ///
    /// - Throws: ``PersistenceError``.
    public func names() throws(PersistenceError) -> [String] { try names(inSpace: "item") }

    /// Removes all items and snapshots, including damaged ones. Policy and key are kept.
    ///
    /// - Throws: ``PersistenceError``.
    public func removeAll() async throws(PersistenceError) {
        guard try open() != nil else { return }
        try await withLock { () throws(PersistenceError) in
            for name in try itemFiles() { try unlink(name) }
            try sync()
        }
    }

    // MARK: Opening

    /// Opens the store with its key; returns `nil` if the folder never contained an item.
    func open() throws(PersistenceError) -> OpenedStore? {
        guard let bytes = try markerBytes() else {
            guard !hasBeenOpen else { throw .storeRemoved(folder: folder) }
            return nil
        }
        guard let marker = StoreMarker(bytes: bytes) else {
            throw .unknownFormat(path: folder + "/" + StoreMarker.name)
        }
        if let opened, opened.marker == marker { return opened }
        guard (marker.target ?? marker.policy) == policy else {
            throw .otherPolicy(folder: folder, found: marker.target ?? marker.policy, expected: policy)
        }
        let store = OpenedStore(marker: marker, dataKey: try dataKey(of: marker))
        opened = store
        hasBeenOpen = true
        return store
    }

    /// Opens the store with its key, and creates it if necessary.
    func openOrMake() throws(PersistenceError) -> OpenedStore {
        if let store = try open() { return store }
        var marker = StoreMarker(policy: policy)
        if policy.isEncrypted { try seal(&marker, over: .generate()) }
        do throws(DataVaultError) {
            try files.add(StoreMarker.name, in: folder, marker.bytes)
        } catch .system(_, _, EEXIST) {
            // Another process has created the store first; its key is used.
        } catch {
            throw PersistenceError(error)
        }
        guard let store = try open() else { throw .storeRemoved(folder: folder) }
        return store
    }

    private func markerBytes() throws(PersistenceError) -> [UInt8]? {
        do throws(DataVaultError) {
            guard try files.isDirectoryThere(folder) else { return nil }
            return try files.read(folder + "/" + StoreMarker.name, limit: StoreMarker.maximumByteCount)
        } catch {
            throw PersistenceError(error)
        }
    }

    private func source(of key: StoreKey?, making: Bool) throws(PersistenceError) -> KeySource {
        switch key {
        case nil: throw .keyMissing(folder: folder)
        case .given(let source)?: return source
        case .generated(let secrets, let name)?:
            do throws(DataVaultError) {
                if let key = try secrets.key(named: name) { return .key(key) }
                guard making else { throw DataVaultError.noVault(name: name.text) }
                return .key(try secrets.generateKey(named: name))
            } catch {
                if case .noVault = error { throw .keyMissing(folder: folder) }
                // If two processes create the key at the same time, the first one is used.
                if case .alreadyExists = error, let key = try? secrets.key(named: name) { return .key(key) }
                throw .keyStore(reason: error.description)
            }
        }
    }

    private func dataKey(of marker: StoreMarker) throws(PersistenceError) -> EncryptionKey? {
        guard let bytes = marker.envelope, marker.isEncrypted else { return nil }
        let source = try source(of: key, making: false)
        do throws(SecretError) {
            return try KeyEnvelope(bytes: Array(bytes)).open(with: source, context: marker.context)
        } catch {
            switch error {
            case .wrongKey: throw .wrongKey(folder: folder)
            case .wrongKindOfKey(let kind): throw .wrongKindOfKey(folder: folder, expected: kind.rawValue)
            case .emptyPassphrase: throw .keyMissing(folder: folder)
            default: throw .unknownFormat(path: folder + "/" + StoreMarker.name)
            }
        }
    }

    /// Encrypts the data key for a marker. Each change of the marker's policy requires a new envelope.
    private func seal(
        _ marker: inout StoreMarker, over dataKey: EncryptionKey, with key: StoreKey? = nil
    ) throws(PersistenceError) {
        let source = try source(of: key ?? self.key, making: true)
        marker.format = StoreMarker.version
        do throws(SecretError) {
            marker.envelope = Data(try KeyEnvelope.seal(dataKey, with: source, context: marker.context).bytes)
        } catch {
            throw .keyStore(reason: error.description)
        }
    }

    private func write(_ marker: StoreMarker) throws(PersistenceError) {
        do throws(DataVaultError) {
            try files.replace(StoreMarker.name, in: folder, with: marker.bytes)
        } catch {
            throw PersistenceError(error)
        }
    }
}

// MARK: Changing how it is kept

extension PersistentStore {
    /// Changes the key of the store. The items are not rewritten, because they are encrypted with a data key,
    /// which the key wraps.
    ///
    /// - Throws: ``PersistenceError``; the store then keeps its key.
    public func changeKey(to key: StoreKey) async throws(PersistenceError) {
        guard policy.isEncrypted, try open() != nil else {
            setKey(key)
            return
        }
        try await withLock { () throws(PersistenceError) in
            guard var marker = try open()?.marker, let dataKey = try dataKey(of: marker) else { return }
            try seal(&marker, over: dataKey, with: key)
            try write(marker)
            setKey(key)
        }
    }

    /// Changes the policy of the store and converts every item. After a crash, open the store with the new
    /// policy and call this method again to resume the conversion. All items stay readable in the meantime.
    ///
    /// - Throws: ``PersistenceError``; `damaged` names the first unreadable item. Remove it and call the method
    ///   again.
    public func changePolicy(to new: StoragePolicy) async throws(PersistenceError) {
        guard try open() != nil else {
            policy = new
            return
        }
        while try await convertOnce(to: new) != new {}
    }

    /// Completes an interrupted conversion, or performs the requested one.
    ///
    /// - Returns: The current policy of the store.
    private func convertOnce(to new: StoragePolicy) async throws(PersistenceError) -> StoragePolicy {
        try await withLock { () throws(PersistenceError) -> StoragePolicy in
            guard var marker = try open()?.marker else { return new }
            let dataKey = try dataKey(of: marker) ?? .generate()
            let target: StoragePolicy
            if let interrupted = marker.target {
                target = interrupted
            } else {
                guard marker.policy != new else { return new }
                target = new
                marker.target = new
                try seal(&marker, over: dataKey)
                try write(marker)
                policy = new
            }
            guard let opened = try open() else { return new }
            for file in try itemFiles() { try convert(file, opened) }
            marker.policy = target
            marker.target = nil
            if target.isEncrypted { try seal(&marker, over: dataKey) } else { marker.envelope = nil }
            try write(marker)
            return target
        }
    }

    private func convert(_ file: String, _ opened: OpenedStore) throws(PersistenceError) {
        let path = folder + "/" + file
        guard let reader = try ItemReader(path, name: file, cipher: opened.cipher) else { return }
        // A file that does not belong to the store is not converted.
        guard opened.marker.holdsItems(areSealed: reader.isSealed) else { return }
        guard reader.isSealed != opened.writingPolicy.isEncrypted else {
            Self.protect(path, opened.writingPolicy)
            return
        }
        let draft = try draft(reader.header, opened)
        do throws(PersistenceError) {
            while let chunk = try reader.next() { try draft.writer.write(chunk) }
            try draft.writer.finish()
            try rename(draft, reader.header, store: opened)
        } catch {
            discard(draft)
            throw error
        }
        let new = Self.fileName(reader.header, opened.writingPolicy, store: opened)
        if new != file { try unlink(file) }
    }

    /// Moves the store to another folder with all its content. To a folder on another disk, all files are
    /// copied before they are removed.
    ///
    /// - Throws: ``PersistenceError``; `folderInUse` if the folder is not empty. The store then stays in its
    ///   folder.
    public func move(to new: String) async throws(PersistenceError) {
        guard new != folder else { return }
        let manager = FileManager.default
        if let there = try? manager.contentsOfDirectory(atPath: new), !there.isEmpty { throw .folderInUse(folder: new) }
        guard !manager.fileExists(atPath: new) || rmdir(new) == 0 else { throw .folderInUse(folder: new) }
        guard try open() != nil else {
            folder = new
            return
        }
        try await withLock { () throws(PersistenceError) in
            let parent = (new as NSString).deletingLastPathComponent
            do {
                try manager.createDirectory(atPath: parent, withIntermediateDirectories: true)
                // Also copies between disks.
                try manager.moveItem(atPath: folder, toPath: new)
            } catch {
                throw .system(operation: "moving the store", path: new, code: EIO)
            }
            folder = new
            do throws(DataVaultError) { try files.syncDirectory(parent) } catch { throw PersistenceError(error) }
        }
    }
}

private actor ItemSource {
    private let reader: ItemReader

    init(_ reader: sending ItemReader) { self.reader = reader }

    func next() throws -> [UInt8]? { try reader.next() }
}
