/// What is generated, and how; also the file that `--config` names, in JSON.
///
/// ```json
/// {
///   "name": "Shop",
///   "access": "internal",
///   "sets": ["Orders", "Customers"],
///   "names": {"Shop.Order": "PurchaseOrder", "Shop.Order/Freight": "freightCharge"}
/// }
/// ```
public struct GeneratorConfiguration: Codable, Hashable, Sendable {
    /// Who sees the generated code.
    public enum Access: String, Codable, Hashable, Sendable, CaseIterable {
        /// Everybody who imports the module.
        case `public`
        /// The other modules of the package.
        case package
        /// The module that it is generated into.
        case `internal`
    }

    /// Which navigation properties bring the types that they lead to.
    public enum Navigation: String, Codable, Hashable, Sendable {
        /// None: one is generated where its type is there anyway. What keeps a subset small.
        case selected
        /// Those whose entities live within the entity (`ContainsTarget`).
        case contained
        /// All.
        case all
    }

    /// Which operations are generated.
    public enum Operations: String, Codable, Hashable, Sendable {
        /// Those of the types and sets that are there.
        case all
        /// None.
        case none
    }

    /// What the service is called: the generated types are `<name>Service` and `<name>Metadata`. `nil` takes the name
    /// of the entity container without `Container`, `Entities`, `Context`, `Service` or `Default` at its end.
    public var name: String?
    /// Who sees the generated code.
    public var access: Access
    /// The entity sets, singletons and operation imports wanted; `nil` for all. What their types need comes along.
    public var sets: [String]?
    /// Types wanted besides, by qualified name.
    public var types: [String]
    /// Which navigation properties bring their types along, where only some sets are wanted.
    public var navigation: Navigation
    /// Which operations are generated.
    public var operations: Operations
    /// Names that replace those that the rules give, by what they are for: `NS.Type`, `NS.Type/Property`,
    /// `NS.Enumeration/Member`, `NS.Container/Set`, `NS.Operation`, `NS.Operation/Parameter`.
    public var names: [String: String]
    /// How many files hold the types, 1 to 100: with fixed names, as build tools want them. `nil` is a file per type.
    public var files: Int?

    /// Makes a configuration; what is left out is the default.
    public init(
        name: String? = nil, access: Access = .public, sets: [String]? = nil, types: [String] = [],
        navigation: Navigation = .selected, operations: Operations = .all, names: [String: String] = [:],
        files: Int? = nil
    ) {
        self.name = name
        self.access = access
        self.sets = sets
        self.types = types
        self.navigation = navigation
        self.operations = operations
        self.names = names
        self.files = files
    }

    /// The greatest number of ``files``.
    public static let maxFiles = 100

    private enum Key: String, CodingKey, CaseIterable {
        case name, access, sets, types, navigation, operations, names, files
    }

    /// A key as the file has it, known or not.
    private struct AnyKey: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Reads a configuration; a key that does not exist is refused, since it is misspelt.
    public init(from decoder: any Decoder) throws {
        for key in try decoder.container(keyedBy: AnyKey.self).allKeys where Key(rawValue: key.stringValue) == nil {
            let known = Key.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.dataCorrupted(
                .init(codingPath: [key], debugDescription: "There is no such key; there are \(known)."))
        }
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            name: try container.decodeIfPresent(String.self, forKey: .name),
            access: try container.decodeIfPresent(Access.self, forKey: .access) ?? .public,
            sets: try container.decodeIfPresent([String].self, forKey: .sets),
            types: try container.decodeIfPresent([String].self, forKey: .types) ?? [],
            navigation: try container.decodeIfPresent(Navigation.self, forKey: .navigation) ?? .selected,
            operations: try container.decodeIfPresent(Operations.self, forKey: .operations) ?? .all,
            names: try container.decodeIfPresent([String: String].self, forKey: .names) ?? [:],
            files: try container.decodeIfPresent(Int.self, forKey: .files))
    }
}
