/// What a service offers at its root (OData CSDL 4.01, 13 *Entity Container*).
public struct EntityContainer: Hashable, Sendable {
    /// The qualified name.
    public var name: QualifiedName
    /// The container this one extends.
    public var extends: QualifiedName?
    /// The entity sets in document order.
    public var entitySets: [EntitySet]
    /// The singletons in document order.
    public var singletons: [Singleton]
    /// The function and action imports in document order.
    public var operationImports: [OperationImport]
    /// V2 and V3: the association sets in document order; in V4 their bindings say it all.
    public var associationSets: [AssociationSet]
    /// The annotations on the container.
    public var annotations: [Annotation]

    /// Makes a container.
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
public struct EntitySet: Hashable, Sendable {
    /// The name, unique within the container.
    public var name: String
    /// The name that the set has in URLs, if it is another one: before V4, the sets outside of the default container are
    /// addressed with the name of their container, as `Archive.Photos` (OData 2.0, URI Conventions, 3.1).
    public var qualifiedName: String?
    /// The type of its entities.
    public var type: QualifiedName
    /// Where its navigation properties lead.
    public var bindings: [NavigationPropertyBinding]
    /// Whether the service document lists it.
    public var isInServiceDocument: Bool
    /// The annotations on the set.
    public var annotations: [Annotation]

    /// Makes an entity set.
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
    /// Whether there may be none.
    public var isNullable: Bool
    /// Where its navigation properties lead.
    public var bindings: [NavigationPropertyBinding]
    /// The annotations on it.
    public var annotations: [Annotation]

    /// Makes a singleton.
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

/// Names the set that a navigation property's entities belong to
/// (OData CSDL 4.01, 13.4 *Navigation Property Binding*).
public struct NavigationPropertyBinding: Hashable, Sendable {
    /// The path of the navigation property.
    public var path: String
    /// The entity set or singleton.
    public var target: String

    /// Makes a binding.
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
    /// The name that it has in URLs, if it is another one; see ``EntitySet/qualifiedName``.
    public var qualifiedName: String?
    /// The operation it calls.
    public var operation: QualifiedName
    /// Action or function.
    public var kind: ODataOperation.Kind
    /// The set of the entities returned.
    public var entitySet: String?
    /// V2: the HTTP method stated in the metadata.
    public var httpMethod: String?
    /// Whether the service document lists it.
    public var isInServiceDocument: Bool
    /// The annotations on it.
    public var annotations: [Annotation]

    /// Makes an operation import.
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
