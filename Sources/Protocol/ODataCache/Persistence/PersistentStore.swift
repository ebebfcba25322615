import DataVault
import Foundation
public import ODataService
import Secrets

/// What an app keeps between runs: values of `Codable` types, bytes, streams and snapshots of caches, by name, in a
/// folder, encrypted unless said otherwise.
///
/// ```swift
/// let name = try SecretName("cache")
/// let store = PersistentStore(folder: folder, key: .generated(in: secrets, named: name))
/// try await store.put(Settings(theme: "dark"), for: "settings")
/// let settings = try await store.value(Settings.self, for: "settings")
/// ```
///
/// Each item is a file of its own that is written whole or not at all and is durable when the call returns: a crash
/// loses nothing that was kept before, and a damaged item does not concern the others. Objects and processes may
/// share a folder. Names are told by no file name.
///
/// Nothing is wiped silently: a store that is kept in another way than it is opened is an error, and
/// ``changePolicy(to:)``, ``changeKey(to:)`` and ``move(to:)`` convert it.
public actor PersistentStore {
    /// How much one item may be.
    public struct Limits: Hashable, Sendable {
        /// The most bytes of a value or of bytes that are kept as a whole, 64 MiB if not said. Streams and snapshots
        /// have no limit.
        public var valueBytes: Int
        /// The most bytes of a name in UTF-8, 1,024 if not said.
        public var nameBytes: Int

        /// Makes limits.
        public init(valueBytes: Int = 64 << 20, nameBytes: Int = 1024) {
            self.valueBytes = valueBytes
            self.nameBytes = nameBytes
        }
    }

    /// How long one waits for a store that another process is working on, in seconds.
    public static let lockPatience = 30.0

    /// The folder.
    public private(set) var folder: String
    /// How items are kept.
    public private(set) var policy: StoragePolicy
    /// How much one item may be.
    public let limits: Limits

    private var key: StoreKey?
    private var opened: OpenedStore?
    private var hasBeenOpen = false
    let files = SystemFiles()

    /// Makes a store; the folder is made when something is kept.
    ///
    /// - Parameters:
    ///   - folder: The folder, for this store alone; `nil` for ``defaultFolder()``.
    ///   - policy: How items are kept; a folder that is kept otherwise is refused at the first use.
    ///   - key: Where the key comes from. Without one an encrypted store throws
    ///     ``PersistenceError/keyMissing(folder:)`` at the first use, until ``setKey(_:)`` gives it.
    ///   - limits: How much one item may be.
    public init(
        folder: String? = nil, policy: StoragePolicy = .full, key: StoreKey? = nil, limits: Limits = Limits()
    ) {
        self.folder = folder ?? Self.defaultFolder()
        self.policy = policy
        self.key = key
        self.limits = limits
    }

    /// `$XDG_CACHE_HOME/outpost/store` or `~/.cache/outpost/store`; on Apple's platforms `outpost/store` in the
    /// app's caches, which the system may clear.
    public static func defaultFolder() -> String {
        #if canImport(Darwin)
            let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first?.path
            return (caches ?? NSTemporaryDirectory()) + "/outpost/store"
        #else
            return defaultFolder(environment: ProcessInfo.processInfo.environment)
        #endif
    }

    static func defaultFolder(environment: [String: String]) -> String {
        // The XDG base directory specification says that a relative path must be ignored.
        if let cache = environment["XDG_CACHE_HOME"], cache.hasPrefix("/") { return cache + "/outpost/store" }
        if let home = environment["HOME"], home.hasPrefix("/") { return home + "/.cache/outpost/store" }
        return NSTemporaryDirectory() + "outpost/store"
    }

    /// Gives the key, or another source of the same one.
    public func setKey(_ key: StoreKey) {
        self.key = key
        opened = nil
    }

    // MARK: Values, bytes and streams

    /// Keeps a value, in place of any item of that name.
    ///
    /// - Throws: ``PersistenceError``.
    public func put(_ value: some Encodable & Sendable, for name: String) async throws(PersistenceError) {
        try await keep(try encoded(value, for: name), ItemHeader(kind: .value, name: name))
    }

    /// The bytes of a value.
    func encoded(_ value: some Encodable, for name: String) throws(PersistenceError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(value))
        } catch {
            throw .unencodable(name: name)
        }
    }

    /// A value; `nil` when there is no item of that name.
    ///
    /// - Throws: ``PersistenceError``: `undecodable` when the item is something else.
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

    /// Keeps bytes, in place of any item of that name.
    ///
    /// - Throws: ``PersistenceError``.
    public func putBytes(_ bytes: [UInt8], for name: String) async throws(PersistenceError) {
        try await keep(bytes, ItemHeader(kind: .bytes, name: name))
    }

    /// The bytes of an item, also of one that was kept as a stream; `nil` when there is none.
    ///
    /// - Throws: ``PersistenceError``: `tooLarge` for a stream beyond the limit.
    public func bytes(for name: String) throws(PersistenceError) -> [UInt8]? {
        guard let reader = try reader(ItemHeader(kind: .bytes, name: name)) else { return nil }
        return try reader.all(limit: limits.valueBytes)
    }

    /// Keeps a stream of any length, in place of any item of that name; not more than two chunks are in memory.
    ///
    /// - Throws: ``PersistenceError``, and what the stream throws; what was there before is then there still.
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

    /// The bytes of an item as a stream, read as it is pulled; `nil` when there is none. A stream that was begun goes
    /// on with the item as it was, whatever is kept under its name meanwhile.
    ///
    /// - Throws: ``PersistenceError``; the stream throws `damaged` where the item was altered.
    public func stream(for name: String) throws(PersistenceError) -> ByteStream? {
        guard let reader = try reader(ItemHeader(kind: .stream, name: name)) else { return nil }
        let source = ItemSource(reader)
        return ByteStream { try await source.next() }
    }

    /// Whether there is an item of that name, damaged or not.
    ///
    /// - Throws: ``PersistenceError``.
    public func contains(_ name: String) throws(PersistenceError) -> Bool {
        try path(of: ItemHeader(kind: .bytes, name: name)) != nil
    }

    /// Removes an item, damaged or not.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: ``PersistenceError``.
    @discardableResult
    public func remove(_ name: String) async throws(PersistenceError) -> Bool {
        try await remove(ItemHeader(kind: .bytes, name: name))
    }

    /// The names of all items that are not snapshots, sorted; an item whose beginning is damaged has none.
    ///
    /// - Throws: ``PersistenceError``.
    public func names() throws(PersistenceError) -> [String] { try names(inSpace: "item") }

    /// Removes all items and snapshots, damaged ones too; policy and key stay.
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

    /// The store with its key; `nil` when nothing was ever kept in the folder.
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

    /// The store with its key, made now if need be.
    func openOrMake() throws(PersistenceError) -> OpenedStore {
        if let store = try open() { return store }
        var marker = StoreMarker(policy: policy)
        if policy.isEncrypted { try seal(&marker, over: .generate()) }
        do throws(DataVaultError) {
            try files.add(StoreMarker.name, in: folder, marker.bytes)
        } catch .system(_, _, EEXIST) {
            // Another process was first; its key counts.
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
                // Two processes that make the key at once: the first one's counts.
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

    /// Has the key open a marker, as it is now: each change of how items are kept makes another envelope.
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
    /// Opens the store under another key from now on. The items stay as they are: they are encrypted under a data
    /// key that the other key wraps.
    ///
    /// - Throws: ``PersistenceError``; the store then has the key that it had.
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

    /// Keeps the store in another way from now on, and converts every item. After a crash in between, a store that is
    /// opened with the new policy goes on where it stopped, when this is called again; everything can be read
    /// meanwhile.
    ///
    /// - Throws: ``PersistenceError``: `damaged` names the first item that cannot be read; remove it and call again.
    public func changePolicy(to new: StoragePolicy) async throws(PersistenceError) {
        guard try open() != nil else {
            policy = new
            return
        }
        while try await convertOnce(to: new) != new {}
    }

    /// Ends a conversion that a crash has stopped, or does the one that is wanted.
    ///
    /// - Returns: How the store is kept now.
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
        // Somebody else's stays so.
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

    /// Moves the store to another folder, with all that is in it. Where the folder is on another disk everything is
    /// copied, and removed here when all of it is there.
    ///
    /// - Throws: ``PersistenceError``: `folderInUse` unless the folder is empty or none; the store is then where it
    ///   was.
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
                // Copies across disks by itself.
                try manager.moveItem(atPath: folder, toPath: new)
            } catch {
                throw .system(operation: "moving the store", path: new, code: EIO)
            }
            folder = new
            do throws(DataVaultError) { try files.syncDirectory(parent) } catch { throw PersistenceError(error) }
        }
    }
}

/// Hands a reader's chunks to whoever pulls, one at a time.
private actor ItemSource {
    private let reader: ItemReader

    init(_ reader: sending ItemReader) { self.reader = reader }

    func next() throws -> [UInt8]? { try reader.next() }
}
