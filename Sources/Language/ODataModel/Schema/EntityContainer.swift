/// The root content of a service (OData CSDL 4.01, 13 *Entity Container*).
public struct EntityContainer: Hashable, Sendable {
    /// The qualified name of the container.
    public var name: QualifiedName
    /// The container that this container extends.
    public var extends: QualifiedName?
    /// The entity sets in document order.
    public var entitySets: [EntitySet]
    /// The singletons in document order.
    public var singletons: [Singleton]
    /// The function and action imports in document order.
    public var operationImports: [OperationImport]
    /// V2 and V3: the association sets in document order. V4 expresses all their content as bindings.
    public var associationSets: [AssociationSet]
    /// The annotations on the container.
    public var annotations: [Annotation]

    /// Creates a container.
    public init(
        name: QualifiedName, extends: QualifiedName? = nil, entitySets: [EntitySet] = [],
        singletons: [Singleton] = [], operationImports: [OperationImport] = [],
        associationSets: [AssociationSet] = [], annotations: [Annotation] = []
    ) {
        self.name = name
        self.extends = extends
        self.entitySets = entitySets
        self.singletons = singletons
        self.operationImports = operationImports
        self.associationSets = associationSets
        self.annotations = annotations
    }
}

/// A named collection of entities (OData CSDL 4.01, 13.2 *Entity Set*).
///
/// ```swift
/// for set in model.container.entitySets { show(set.name, set.isCreatable, set.maxPageSize ?? 0) }
/// ```
public struct EntitySet: Hashable, Sendable {
    /// The name, unique within the container.
    public var name: String
    /// The name of the set in URLs if it differs. Before V4, the URLs of sets outside the default container include
    /// the container name, as in `Archive.Photos` (OData 2.0, URI Conventions, 3.1).
    public var qualifiedName: String?
    /// The type of the entities.
    public var type: QualifiedName
    /// The targets of the navigation properties.
    public var bindings: [NavigationPropertyBinding]
    /// Whether the service document lists the set.
    public var isInServiceDocument: Bool
    /// The annotations on the set.
    public var annotations: [Annotation]

    /// Creates an entity set.
    public init(
        name: String, type: QualifiedName, bindings: [NavigationPropertyBinding] = [],
        isInServiceDocument: Bool = true, annotations: [Annotation] = [], qualifiedName: String? = nil
    ) {
        self.name = name
        self.qualifiedName = qualifiedName
        self.type = type
        self.bindings = bindings
        self.isInServiceDocument = isInServiceDocument
        self.annotations = annotations
    }
}

/// A single named entity (OData CSDL 4.01, 13.3 *Singleton*).
public struct Singleton: Hashable, Sendable {
    /// The name, unique within the container.
    public var name: String
    /// The type of the entity.
    public var type: QualifiedName
    /// Whether the singleton may be null.
    public var isNullable: Bool
    /// The targets of the navigation properties.
    public var bindings: [NavigationPropertyBinding]
    /// The annotations on the singleton.
    public var annotations: [Annotation]

    /// Creates a singleton.
    public init(
        name: String, type: QualifiedName, isNullable: Bool = false, bindings: [NavigationPropertyBinding] = [],
        annotations: [Annotation] = []
    ) {
        self.name = name
        self.type = type
        self.isNullable = isNullable
        self.bindings = bindings
        self.annotations = annotations
    }
}

/// The target set of a navigation property (OData CSDL 4.01, 13.4 *Navigation Property Binding*).
public struct NavigationPropertyBinding: Hashable, Sendable {
    /// The path of the navigation property.
    public var path: String
    /// The name or path of the entity set or singleton.
    public var target: String

    /// Creates a binding.
    public init(path: String, target: String) {
        self.path = path
        self.target = target
    }
}

/// An unbound operation callable at the service root (OData CSDL 4.01, 13.5 and 13.6), or a
/// V2 function import.
public struct OperationImport: Hashable, Sendable {
    /// The name, unique within the container.
    public var name: String
    /// The name of the import in URLs if it differs; see ``EntitySet/qualifiedName``.
    public var qualifiedName: String?
    /// The operation that the import calls.
    public var operation: QualifiedName
    /// The kind of operation.
    public var kind: ODataOperation.Kind
    /// The set of the returned entities.
    public var entitySet: String?
    /// The HTTP method stated in V2 metadata.
    public var httpMethod: String?
    /// Whether the service document lists the import.
    public var isInServiceDocument: Bool
    /// The annotations on the import.
    public var annotations: [Annotation]

    /// Creates an operation import.
    public init(
        name: String, operation: QualifiedName, kind: ODataOperation.Kind, entitySet: String? = nil,
        httpMethod: String? = nil, isInServiceDocument: Bool = false, annotations: [Annotation] = [],
        qualifiedName: String? = nil
    ) {
        self.name = name
        self.qualifiedName = qualifiedName
        self.operation = operation
        self.kind = kind
        self.entitySet = entitySet
        self.httpMethod = httpMethod
        self.isInServiceDocument = isInServiceDocument
        self.annotations = annotations
    }
}
