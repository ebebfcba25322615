import Foundation
import MobileProtocol
import ODataService

/// The settings of a registration: names and texts that operators and the app share.
///
/// A snapshot with its version and age is kept, so that settings are known without a network. Names count with and
/// without the prefix `d:` of the older products.
///
/// ```swift
/// let colour = try await session.settings.value("Colour")
/// try await session.settings.set(["Colour": "red"])
/// for await changes in session.settings.changes {
///     for change in changes { show("\(change.name): \(change.new ?? "none")") }
/// }
/// ```
public actor AppSettings {
    /// The snapshot that is kept.
    struct Snapshot: Codable, Sendable, Equatable {
        struct Value: Codable, Sendable, Equatable {
            var text: String?
            var isReadOnly: Bool
        }
        var values: [String: Value] = [:]
        /// The version in the spelling of the server, compared for equality only.
        var version: String?
        /// The time of the exchange in seconds since 1970.
        var readAt: Double = 0
    }

    static let record = "settings"

    private nonisolated let broadcast = Broadcast<[AppSettingChange]>()
    private let wire: DeviceWire
    private let records: SessionRecords
    private let clock: MobileClock
    private var snapshot: Snapshot?

    init(wire: DeviceWire, records: SessionRecords, clock: MobileClock) {
        self.wire = wire
        self.records = records
        self.clock = clock
    }

    /// The changes of each exchange with the server. The last change of an exchange is
    /// ``AppSettingChange/exchangeComplete``.
    public nonisolated var changes: AsyncStream<[AppSettingChange]> { broadcast.stream() }

    /// Returns all settings that have a value.
    ///
    /// - Parameter refreshing: Whether the server is asked first.
    /// - Throws: ``MobileError``: `notRegistered`, and the errors of the exchange if `refreshing` is set.
    public func all(refreshing: Bool = false) async throws(MobileError) -> [String: String] {
        if refreshing { try await refresh() }
        return try await known().values.compactMapValues(\.text)
    }

    /// Returns the value of a setting as it is known on the device; `nil` if there is none.
    ///
    /// - Parameter name: The name, with or without `d:`.
    /// - Throws: ``MobileError/device(reason:)``.
    public func value(_ name: String) async throws(MobileError) -> String? {
        try await known().values[Self.bare(name)]?.text
    }

    /// The seconds since the last exchange with the server; `nil` before the first one.
    public var age: Double? {
        get async throws(MobileError) {
            let known = try await known()
            return known.readAt == 0 ? nil : max(0, clock.now() - known.readAt)
        }
    }

    /// Changes settings at the server and on the device: all of them or none.
    ///
    /// - Parameter values: The new values by name.
    /// - Throws: ``MobileError``: `settingNotEditable` if one of them is read-only, `emptyParameter`, `notRegistered`,
    ///   and the errors of the exchange.
    public func set(_ values: [String: String]) async throws(MobileError) {
        guard let id = wire.identity.id else { throw .notRegistered }
        let known = try await known().values
        var changes: [JSONValue] = []
        for (given, value) in values.sorted(by: { $0.key < $1.key }) {
            let name = Self.bare(given)
            guard !name.isEmpty else { throw .emptyParameter("the name of a setting") }
            guard known[name]?.isReadOnly != true else { throw .settingNotEditable(name) }
            changes.append(.object(["Name": .text(name), "Value": .text(value)]))
        }
        guard !changes.isEmpty else { return }
        let body = JSONValue.bytes(["@context": .text("#$delta"), "value": .list(changes)])
        _ = try await wire.document(.patch, Registration.path(id) + "/Settings", body: body)
        try await receive(of: id)
    }

    /// Asks the server for the settings.
    ///
    /// - Throws: ``MobileError``: `notRegistered`, and the errors of the exchange.
    public func refresh() async throws(MobileError) {
        guard let id = wire.identity.id else { throw .notRegistered }
        try await receive(of: id)
    }

    /// The URL below which the destinations of the application are.
    ///
    /// - Throws: ``MobileError/device(reason:)``.
    public var applicationEndpoint: String {
        get async throws(MobileError) {
            try await value("ApplicationEndpoint") ?? wire.profile.deviceAPI + "d/"
        }
    }

    /// The URL of the push endpoint of the older products.
    ///
    /// - Throws: ``MobileError/settingMissing(_:)`` (70003).
    public var pushEndpoint: String {
        get async throws(MobileError) {
            guard let url = try await value("PushEndpoint"), !url.isEmpty else { throw .settingMissing("PushEndpoint") }
            return url
        }
    }

    // MARK: Exchange

    /// Reads the settings of a registration and keeps them.
    func receive(of id: String) async throws(MobileError) {
        let answer = try await wire.document(.get, Registration.path(id) + "/Settings")
        guard let page = try? JSONDecoder().decode(Page.self, from: Data(answer.bytes)) else {
            throw .invalidAnswer(detail: "the settings are not as expected")
        }
        let old = try await known()
        var new = Snapshot(version: answer.field(MobileFieldNames.settings), readAt: clock.now())
        for setting in page.value {
            new.values[Self.bare(setting.Name)] = .init(text: setting.Value, isReadOnly: setting.IsReadOnly ?? false)
        }
        try await records.set(new, Self.record)
        snapshot = new
        var changes: [AppSettingChange] = []
        for name in Set(old.values.keys).union(new.values.keys).sorted() {
            let (before, after) = (old.values[name]?.text, new.values[name]?.text)
            if before != after { changes.append(AppSettingChange(name: name, old: before, new: after)) }
        }
        broadcast.send(changes + [.exchangeComplete])
    }

    /// Whether the server has announced a version that is not the known one.
    func isOutdated(_ version: String) async -> Bool {
        guard let known = try? await known() else { return true }
        return known.version != version
    }

    func forget() { snapshot = nil }

    private struct Page: Decodable {
        struct Setting: Decodable {
            var Name: String
            var Value: String?
            var IsReadOnly: Bool?
        }
        var value: [Setting]
    }

    private func known() async throws(MobileError) -> Snapshot {
        if let snapshot { return snapshot }
        let kept: Snapshot = try await records.value(Self.record) ?? Snapshot()
        snapshot = kept
        return kept
    }

    private static func bare(_ name: String) -> String {
        let text = name.trimmed
        return text.hasPrefix("d:") ? String(text.dropFirst(2)) : text
    }
}

/// A setting that an exchange with the server has changed.
///
/// ```swift
/// for await changes in session.settings.changes {
///     for change in changes where change.name == "Colour" { show(change.new ?? "none") }
/// }
/// ```
public struct AppSettingChange: Sendable, Hashable {
    /// The name of the setting; empty for ``exchangeComplete``.
    public let name: String
    /// The former value.
    public let old: String?
    /// The new value.
    public let new: String?

    /// Creates a change.
    public init(name: String, old: String?, new: String?) {
        self.name = name
        self.old = old
        self.new = new
    }

    /// The end of an exchange, also of one that changed nothing.
    public static let exchangeComplete = AppSettingChange(name: "", old: nil, new: nil)
}
