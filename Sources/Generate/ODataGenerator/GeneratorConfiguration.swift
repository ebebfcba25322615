/// The configuration of a generator; also the JSON format of the file for `--config`.
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
    /// The access level of the generated code.
    public enum Access: String, Codable, Hashable, Sendable, CaseIterable {
        /// All modules that import the code.
        case `public`
        /// The modules of the same package.
        case package
        /// Only the module that contains the code.
        case `internal`
    }

    /// The navigation properties whose target types are included.
    public enum Navigation: String, Codable, Hashable, Sendable {
        /// None: a navigation property is generated only if its target type is included for another reason. A
        /// subset then stays small.
        case selected
        /// Navigation properties with contained entities (`ContainsTarget`).
        case contained
        /// All navigation properties.
        case all
    }

    /// The operations that are generated.
    public enum Operations: String, Codable, Hashable, Sendable {
        /// All operations of the included types and sets.
        case all
        /// No operations.
        case none
    }

    /// The name of the service: the generated types are `<name>Service` and `<name>Metadata`. `nil` uses the
    /// name of the entity container without a trailing `Container`, `Entities`, `Context`, `Service` or
    /// `Default`.
    public var name: String?
    /// The access level of the generated code.
    public var access: Access
    /// The names of the included entity sets, singletons and operation imports; `nil` for all. Their types are
    /// included too.
    public var sets: [String]?
    /// Further included types by qualified name.
    public var types: [String]
    /// The navigation properties whose target types are included, if only some sets are.
    public var navigation: Navigation
    /// The operations that are generated.
    public var operations: Operations
    /// Names that replace the default ones, by element: `NS.Type`, `NS.Type/Property`, `NS.Enumeration/Member`,
    /// `NS.Container/Set`, `NS.Operation`, `NS.Operation/Parameter`.
    public var names: [String: String]
    /// The number of files for the types, from 1 to 100. Their names are fixed, as build tools require. `nil`
    /// generates a file for each type.
    public var files: Int?
    /// Whether business objects of an object package are generated (`Outpost.Objects.V1`) instead of a service.
    public var objects: Bool
    /// The synchronization groups to include, with the types that their sets need; `nil` for all. Only for objects.
    public var groups: [String]?

    /// Creates a configuration; omitted values have their defaults.
    public init(
        name: String? = nil, access: Access = .public, sets: [String]? = nil, types: [String] = [],
        navigation: Navigation = .selected, operations: Operations = .all, names: [String: String] = [:],
        files: Int? = nil, objects: Bool = false, groups: [String]? = nil
    ) {
        self.objects = objects
        self.groups = groups
        self.name = name
        self.access = access
        self.sets = sets
        self.types = types
        self.navigation = navigation
        self.operations = operations
        self.names = names
        self.files = files
    }

    /// The maximum value of ``files``.
    public static let maxFiles = 100

    private enum Key: String, CodingKey, CaseIterable {
        case name, access, sets, types, navigation, operations, names, files, objects, groups
    }

    /// A key in the file, known or unknown.
    private struct AnyKey: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Reads a configuration. An unknown key is an error, because it is probably misspelt.
    public init(from decoder: any Decoder) throws {
        for key in try decoder.container(keyedBy: AnyKey.self).allKeys where Key(rawValue: key.stringValue) == nil {
            let known = Key.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.dataCorrupted(
                .init(codingPath: [key], debugDescription: "The key is unknown. The known keys are \(known)."))
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
            files: try container.decodeIfPresent(Int.self, forKey: .files),
            objects: try container.decodeIfPresent(Bool.self, forKey: .objects) ?? false,
            groups: try container.decodeIfPresent([String].self, forKey: .groups))
    }
}
