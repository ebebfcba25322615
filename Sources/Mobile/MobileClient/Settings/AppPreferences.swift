public import Secrets
import DataVault
import Foundation

/// A preference of an app: its name, its default and its validation.
///
/// ```swift
/// extension AppPreference where Value == Int {
///     static var pageSize: AppPreference { AppPreference("page size", default: 50) { (1...1000).contains($0) } }
/// }
/// let size = await preferences.get(.pageSize)
/// ```
///
/// `Secret` does not conform to `Codable`, so that the compiler refuses a secret as a preference.
public struct AppPreference<Value: Codable & Sendable & Equatable>: Sendable {
    /// The name, unique in the app.
    public let name: String
    /// The value as long as none is set, and in place of an invalid one.
    public let defaultValue: Value
    let validate: (@Sendable (Value) -> Bool)?

    /// Creates a preference.
    ///
    /// - Parameters:
    ///   - name: The name, unique in the app.
    ///   - value: The default.
    ///   - validate: Returns whether a value is valid.
    public init(_ name: String, default value: Value, validate: (@Sendable (Value) -> Bool)? = nil) {
        self.name = name
        defaultValue = value
        self.validate = validate
    }
}

/// An event of ``AppPreferences/events``.
///
/// ```swift
/// for await event in preferences.events {
///     if case .invalid(let name) = event { show("\(name) has its default again.") }
/// }
/// ```
public enum AppPreferenceEvent: Sendable, Hashable {
    /// A preference has another value.
    case changed(name: String)
    /// The stored value of a preference cannot be read or is invalid; the default counts.
    case invalid(name: String)
    /// The whole file cannot be read; all defaults count.
    case unreadable
}

/// The preferences of an app in one file, which is replaced as a whole.
///
/// An invalid or unreadable value yields the default and one event, and never an error.
///
/// ```swift
/// let preferences = try AppPreferences(directory: folder, key: nil)
/// try await preferences.set(AppPreference("colour", default: "blue"), "red")
/// ```
public actor AppPreferences {
    /// The name of the file.
    static let fileName = "preferences.json"
    /// The longest file, in bytes.
    public static let maxLength = 1 << 20

    private nonisolated let broadcast = Broadcast<AppPreferenceEvent>()
    private let directory: String
    private let cipher: RecordCipher?
    private var values: [String: String]
    private var reported: Set<String> = []
    private var isUnreadable: Bool

    /// Reads the preferences of a folder.
    ///
    /// - Parameters:
    ///   - directory: The folder, which only its owner may read.
    ///   - key: The key that seals the file; `nil` for a readable file.
    /// - Throws: ``MobileError/device(reason:)`` if other users can read the folder.
    public init(directory: String, key: EncryptionKey?) throws(MobileError) {
        self.directory = directory
        let cipher = key.map { RecordCipher(key: $0, purpose: "preferences") }
        self.cipher = cipher
        let bytes: [UInt8]?
        do throws(DataVaultError) {
            let files = SystemFiles()
            bytes =
                try files.isDirectoryThere(directory)
                ? try files.read(directory + "/" + Self.fileName, limit: Self.maxLength) : nil
        } catch {
            throw MobileError(error)
        }
        guard let bytes else {
            (values, isUnreadable) = ([:], false)
            return
        }
        let plain = cipher.map { try? $0.open(bytes) } ?? bytes
        let read = plain.flatMap { try? JSONDecoder().decode([String: String].self, from: Data($0)) }
        (values, isUnreadable) = (read ?? [:], read == nil)
    }

    /// The events from now on.
    public nonisolated var events: AsyncStream<AppPreferenceEvent> { broadcast.stream() }

    /// Returns the value of a preference: the stored one if it is valid, else the default.
    public func get<Value>(_ preference: AppPreference<Value>) -> Value {
        if isUnreadable, reported.insert("").inserted { broadcast.send(.unreadable) }
        guard let text = values[preference.name] else { return preference.defaultValue }
        guard let value = Self.value(text, as: Value.self), preference.validate?(value) ?? true else {
            if reported.insert(preference.name).inserted { broadcast.send(.invalid(name: preference.name)) }
            return preference.defaultValue
        }
        return value
    }

    /// Sets a preference durably.
    ///
    /// - Throws: ``MobileError``: `invalidConfiguration` for a value that is not valid, `device`.
    public func set<Value>(_ preference: AppPreference<Value>, _ value: Value) throws(MobileError) {
        guard preference.validate?(value) ?? true else {
            throw .invalidConfiguration(detail: "the value of \(preference.name) is not valid")
        }
        guard let data = try? JSONEncoder().encode([value]) else {
            throw .invalidConfiguration(detail: "the value of \(preference.name) cannot be stored")
        }
        try store(String(decoding: data, as: UTF8.self), preference.name)
    }

    /// Gives a preference its default again.
    ///
    /// - Throws: ``MobileError/device(reason:)``.
    public func reset<Value>(_ preference: AppPreference<Value>) throws(MobileError) {
        guard values[preference.name] != nil else { return }
        try store(nil, preference.name)
    }

    /// The values of a preference from now on, the present one first.
    public func changes<Value>(of preference: AppPreference<Value>) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self)
        let events = broadcast.stream()
        continuation.yield(get(preference))
        let watch = Task { [weak self] in
            for await event in events where event == .changed(name: preference.name) {
                guard let self else { break }
                continuation.yield(await self.get(preference))
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in watch.cancel() }
        return stream
    }

    private func store(_ text: String?, _ name: String) throws(MobileError) {
        var changed = values
        changed[name] = text
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            var bytes = Array(try encoder.encode(changed))
            guard bytes.count < Self.maxLength - RecordCipher.overhead else {
                throw MobileError.device(reason: "the preferences are longer than \(Self.maxLength) bytes")
            }
            if let cipher { bytes = try cipher.seal(bytes) }
            try SystemFiles().replace(Self.fileName, in: directory, with: bytes)
        } catch let error as MobileError {
            throw error
        } catch {
            throw .device(reason: "\(error)")
        }
        values = changed
        isUnreadable = false
        reported.remove(name)
        broadcast.send(.changed(name: name))
    }

    /// A value is kept as an array of one, since a text alone is no JSON document for every reader.
    private static func value<Value: Decodable>(_ text: String, as type: Value.Type) -> Value? {
        (try? JSONDecoder().decode([Value].self, from: Data(text.utf8)))?.first
    }
}
