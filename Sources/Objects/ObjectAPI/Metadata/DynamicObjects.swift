import ODataModel
import ODataQuery
import ODataService

/// The objects of a type that is known by name alone; see ``PackageDatabase/objects(named:)``.
///
/// ```swift
/// let north = try crm.objects(named: "Customer").filter("Region eq 'North'")
/// for customer in try await north.all() { print(try customer["LastName"]) }
/// ```
public struct DynamicObjects<Package: ObjectPackage>: Sendable {
    /// The type.
    public let typeName: QualifiedName
    private let database: PackageDatabase<Package>
    private let shape: TypeShape
    private let isAbstract: Bool
    private var query: ResourceQuery

    init(_ name: String, in database: PackageDatabase<Package>) throws(ObjectError) {
        let model = database.store.model
        let names = database.package.numbers.keys.sorted { $0.description < $1.description }
        guard let found = names.first(where: { $0.description == name }) ?? names.first(where: { $0.name == name }),
            let shape = model.shape(found), let place = EntityPlace(found, model)
        else { throw .noSuchEntity(name: name) }
        typeName = found
        self.database = database
        self.shape = shape
        isAbstract = model.structuredType(found)?.isAbstract ?? false
        let set = ResourceQuery(ODataURL(set: place.entitySet.name))
        query = place.isCast ? set.navigate(found.description) : set
    }

    // MARK: Queries

    /// Returns the objects that satisfy a condition of OData, such as `Region eq 'North'`.
    ///
    /// - Throws: `QueryError` if the text cannot be read. Names are checked when the objects are read.
    public func filter(_ text: String) throws -> Self {
        var result = self
        result.query = try query.filter(parsing: text)
        return result
    }

    /// Returns the objects in the order of an attribute.
    ///
    /// - Throws: ``ObjectError/noSuchAttribute(name:of:)``.
    public func orderBy(_ attribute: String, descending: Bool = false) throws(ObjectError) -> Self {
        guard shape.property(attribute) != nil else {
            throw .noSuchAttribute(name: attribute, of: typeName.description)
        }
        var result = self
        result.query = query.orderBy(attribute, descending: descending)
        return result
    }

    /// Returns the objects with their related objects.
    ///
    /// - Throws: ``ObjectError/noSuchAttribute(name:of:)``.
    public func expand(_ relation: String) throws(ObjectError) -> Self {
        guard shape.navigationProperty(relation) != nil else {
            throw .noSuchAttribute(name: relation, of: typeName.description)
        }
        var result = self
        result.query = query.expand(relation)
        return result
    }

    /// Returns the objects of an object query that the package declares.
    ///
    /// - Throws: ``ObjectError/noSuchOperation(name:of:)``, ``ObjectError/noSuchParameter(name:of:)``,
    ///   ``ObjectError/missingArgument(name:of:)``.
    public func query(_ name: String, _ arguments: [String: ODataValue] = [:]) throws -> Self {
        let type = typeName.description
        guard let declared = database.package.queries[typeName]?.first(where: { $0.name == name }) else {
            throw ObjectError.noSuchOperation(name: name, of: type)
        }
        for argument in arguments.keys.sorted() where !declared.parameters.contains(where: { $0.name == argument }) {
            throw ObjectError.noSuchParameter(name: argument, of: "\(type)/\(name)")
        }
        var url = try ODataURL(parsing: "\(query.url)?\(declared.text)")
        for parameter in declared.parameters {
            guard let value = arguments[parameter.name] else {
                throw ObjectError.missingArgument(name: parameter.name, of: "\(type)/\(name)")
            }
            url.options.aliases[parameter.name] = QueryExpression.value(value).expression
        }
        var result = self
        result.query = ResourceQuery(url)
        return result
    }

    // MARK: Reading

    /// Returns all objects.
    public func all() async throws -> [DynamicObject] {
        try await database.service.entities(query.url).map { DynamicObject($0, database.store.model) }
    }

    /// Returns the first object; `nil` if there is none.
    public func first() async throws -> DynamicObject? {
        try await database.service.first(query.url).map { DynamicObject($0, database.store.model) }
    }

    /// Returns the number of objects.
    public func count() async throws -> Int64 { try await database.service.count(query.url) }

    /// Returns a range of the objects.
    ///
    /// - Parameters:
    ///   - skip: the number of objects before the range, 0 or more.
    ///   - take: the number of objects in the range at most, 0 or more.
    public func page(skip: Int, take: Int) async throws -> [DynamicObject] {
        var result = self
        result.query = query.skip(skip).top(take)
        return try await result.all()
    }

    /// Returns the object with a key; `nil` if there is none.
    ///
    /// - Parameter key: the values of the key attributes by name.
    /// - Throws: ``ObjectError/noSuchAttribute(name:of:)``, ``ObjectError/missingArgument(name:of:)``.
    public func find(key: [String: ODataValue]) async throws -> DynamicObject? {
        try await database.service.entity(url(of: key)).map { DynamicObject($0, database.store.model) }
    }

    /// Returns the object with a key.
    ///
    /// - Throws: ``ObjectError/objectNotFound(type:object:)``; as ``find(key:)``.
    public func load(key: [String: ODataValue]) async throws -> DynamicObject {
        if let object = try await find(key: key) { return object }
        throw ObjectError.objectNotFound(type: typeName, object: try url(of: key).description)
    }

    /// Creates an object that is not in the database yet.
    ///
    /// - Throws: ``ObjectError/abstractEntity(name:)``.
    public func new() throws(ObjectError) -> DynamicObject {
        guard !isAbstract else { throw .abstractEntity(name: typeName.description) }
        return DynamicObject(ODataEntity(shape: shape), database.store.model)
    }

    private func url(of key: [String: ODataValue]) throws(ObjectError) -> ODataURL {
        let type = typeName.description
        for name in key.keys.sorted() where !shape.key.contains(where: { $0.name == name }) {
            throw .noSuchAttribute(name: name, of: type)
        }
        var parts: [EntityKey.Part] = []
        for part in shape.key {
            guard let value = key[part.name] else { throw .missingArgument(name: part.name, of: type) }
            parts.append(EntityKey.Part(name: part.name, value: value))
        }
        return query.key(EntityKey(parts)).url
    }
}
