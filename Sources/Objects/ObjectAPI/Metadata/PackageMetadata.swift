import ODataModel

/// The description of a package at run time: its entity types with their attributes, relations, operations and queries.
///
/// ```swift
/// for entity in crm.metadata.entities {
///     print(entity.number, entity.name.name, entity.attributes.map(\.name))
/// }
/// ```
public struct PackageMetadata: Sendable {
    /// An entity type.
    public struct Entity: Hashable, Sendable {
        /// The qualified name.
        public var name: QualifiedName
        /// The number, unique in the package.
        public var number: Int32
        /// Whether the type has no objects of its own.
        public var isAbstract: Bool
        /// The base type.
        public var base: QualifiedName?
        /// The entity set; `nil` for a type that is only a part of others.
        public var entitySet: String?
        /// The table of the database; `nil` without an entity set.
        public var table: String?
        /// The attributes in the order of the model, inherited ones first.
        public var attributes: [Attribute]
        /// The relations in the order of the model.
        public var relations: [Relation]
        /// The operations on an object, by name.
        public var operations: [Operation]
        /// The object queries that the package declares.
        public var queries: [PackageModel.Query]
        /// Whether dynamic queries may read the type.
        public var allowsDynamicQueries: Bool

        /// Returns the attribute with a name; `nil` if there is none.
        public func attribute(_ name: String) -> Attribute? { attributes.first { $0.name == name } }

        /// Returns the operation with a name, qualified or not; `nil` if there is none.
        public func operation(_ name: String) -> Operation? { operations.first { $0.isNamed(name) } }
    }

    /// An attribute of an entity type.
    public struct Attribute: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The column of the database; `nil` for an attribute without one, such as a large attribute.
        public var column: String?
        /// The type.
        public var type: TypeReference
        /// The greatest number of characters or bytes; `nil` for no limit.
        public var maxLength: Int?
        /// Whether the attribute may be null.
        public var isNullable: Bool
        /// Whether the attribute is a part of the key.
        public var isKey: Bool
        /// Whether the value is not read with the object, but in pieces.
        public var isLarge: Bool
        /// Whether the service gives the value.
        public var isGiven: Bool
    }

    /// A relation of an entity type to another one.
    public struct Relation: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The type of the related objects.
        public var target: QualifiedName
        /// Whether an object is related to several others.
        public var isCollection: Bool
        /// Whether the related objects are parts of the object.
        public var isComposite: Bool
    }

    /// An operation.
    public struct Operation: Hashable, Sendable {
        /// The name: that of the action or its import, or `create`, `update` and `delete` for the verbs of the entity
        /// set.
        public var name: String
        /// The action; `nil` for a verb of the entity set.
        public var action: QualifiedName?
        /// The role.
        public var role: PackageModel.Role.Kind
        /// The parameters without the object itself.
        public var parameters: [Parameter]

        func isNamed(_ name: String) -> Bool {
            name == self.name || name == action?.description || name == action?.name
        }
    }

    /// A parameter of an operation.
    public struct Parameter: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The type.
        public var type: TypeReference
        /// Whether the value may be null.
        public var isNullable: Bool
        /// Whether the parameter may be left out.
        public var isOptional: Bool
        /// The attribute that fills the parameter; `nil` if the caller gives the value.
        public var attribute: String?
    }

    /// The name of the package.
    public var name: String
    /// The version of the package.
    public var version: String
    /// The synchronization groups, by name.
    public var groups: [PackageModel.Group]
    /// The personalization keys in the order of the package.
    public var personalizationKeys: [PackageModel.Key]
    /// The entity types, by name.
    public var entities: [Entity]
    /// The operations that are bound to no object, by name.
    public var operations: [Operation]

    /// Returns the entity type with a name, qualified or not; `nil` if there is none.
    public func entity(_ name: String) -> Entity? {
        entities.first { $0.name.description == name } ?? entities.first { $0.name.name == name }
    }

    /// Returns the operation with a name that is bound to no object; `nil` if there is none.
    public func operation(_ name: String) -> Operation? { operations.first { $0.isNamed(name) } }
}
