import ODataModel
import ODataQuery
import ODataService
import OfflineOData

/// The values of personalization keys in a database. A key is a parameter of the store with the same name; a key that is
/// kept at the service is also a row of the service's set.
struct PersonalizationStore: Sendable {
    let store: OfflineStore
    let package: PackageModel

    /// The parameter that notes the default with which a key stands.
    private static func defaultNote(_ key: String) -> String { "Outpost_default_\(key)" }

    // MARK: Defaults

    /// Gives each key without a value its default, and a key that stands with a former default the current one.
    func applyDefaults() async throws {
        let values = try await store.queries.parameters()
        for key in package.keys {
            let literal = try Self.defaultValue(of: key).map(Self.literal)
            let isDefault = values[key.name] == nil || values[key.name] == values[Self.defaultNote(key.name)]
            if isDefault, values[key.name] != literal { try await setDefault(of: key) }
        }
    }

    /// Gives a key its default, or no value if it has none.
    private func setDefault(of key: PackageModel.Key) async throws {
        let literal = try Self.defaultValue(of: key).map(Self.literal)
        try await store.queries.setParameter(key.name, to: literal)
        try await store.queries.setParameter(Self.defaultNote(key.name), to: literal)
    }

    private static func defaultValue(of key: PackageModel.Key) throws -> ODataValue? {
        guard let text = key.defaultValue else { return nil }
        guard let value = try? ODataValue(lexical: text, type: key.type) else {
            throw ObjectError.invalidPackage("The default of the key \(key.name) is no \(key.type.rawValue).")
        }
        return value
    }

    // MARK: Literals

    /// A value in the form of a URL.
    static func literal(_ value: ODataValue) -> String {
        var url = ODataURL(set: "X")
        url.options.aliases["v"] = QueryExpression.value(value).expression
        return String(url.description.dropFirst("X?@v=".count))
    }

    private static func value(_ literal: String, of key: PackageModel.Key) -> ODataValue? {
        guard let url = try? ODataURL(parsing: "X?@v=\(literal)"), case .literal(let found)? = url.options.aliases["v"],
            let text = found.value.lexicalText
        else { return nil }
        return try? ODataValue(lexical: text, type: key.type)
    }

    // MARK: Reading and writing

    /// The values of all keys that have one.
    func values() async throws -> [String: ODataValue] {
        let texts = try await store.queries.parameters()
        var values: [String: ODataValue] = [:]
        for key in package.keys { values[key.name] = texts[key.name].flatMap { Self.value($0, of: key) } }
        return values
    }

    /// Stores the values that differ. A key that is set to null has its default again, or no value.
    func save(_ values: [String: ODataValue]) async throws {
        let current = try await self.values()
        let validator = ValueValidator(model: store.model, checks: [.types])
        for key in package.keys {
            guard let value = values[key.name], value != current[key.name] else { continue }
            if !value.isNull {
                do throws(InvalidValueError) {
                    try validator.validate(
                        value, for: Property(name: key.name, type: .primitive(key.type), isNullable: key.isNullable))
                } catch {
                    throw ObjectError.invalidType(name: key.name, expected: key.type.rawValue)
                }
            } else if current[key.name] == nil {
                continue
            }
            try await set(key, to: value.isNull ? nil : value)
            if key.scope == .server { try await send(key, value) }
        }
    }

    private func set(_ key: PackageModel.Key, to value: ODataValue?) async throws {
        guard let value else { return try await setDefault(of: key) }
        try await store.queries.setParameter(Self.defaultNote(key.name), to: nil)
        try await store.queries.setParameter(
            key.name, to: Self.literal(value), keeping: key.scope == .session ? .session : .user)
    }

    // MARK: At the service

    private var set: PackageModel.SynchronizedSet? { package.sets.values.first(where: \.isPersonalizationStore) }

    /// Queues the change of a key that is kept at the service.
    private func send(_ key: PackageModel.Key, _ value: ODataValue) async throws {
        guard let set, let shape = store.model.shape(set.type) else { return }
        let service = DataService(store.changes.provider(with: ChangeOptions(category: set.group)))
        let text: ODataValue = value.isNull ? .null : value.lexicalText.map { .string($0) } ?? .null
        if var row = try await row(of: key.name, in: set, service) {
            row["Value"] = text
            _ = try await service.update(row, in: set.name)
        } else {
            _ = try await service.create(
                ODataEntity(shape: shape, ["Key": .string(key.name), "Value": text]), in: set.name)
        }
    }

    private func row(
        of key: String, in set: PackageModel.SynchronizedSet, _ service: DataService
    ) async throws -> ODataEntity? {
        try await service.entities(ODataURL(set: set.name)).first { $0["Key"] == .string(key) }
    }

    /// Takes over the keys that a download has brought from the service, for example as another device has set them.
    func takeOver() async throws {
        let keys = package.keys.filter { $0.scope == .server }
        guard !keys.isEmpty, let set else { return }
        let service = DataService(store)
        let current = try await values()
        for key in keys {
            guard let row = try await row(of: key.name, in: set, service),
                let text = row["Value"]?.lexicalText, let value = try? ODataValue(lexical: text, type: key.type),
                value != current[key.name]
            else { continue }
            try await self.set(key, to: value)
        }
    }
}
