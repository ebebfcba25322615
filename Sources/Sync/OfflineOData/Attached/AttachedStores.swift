import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Several stores of one app, read as one service: queries filter, expand and order across them.
///
/// Each entity set has the name of its store before its own, as in `sales_Orders`. The app defines navigation
/// properties between the stores (``Relation``); each store has its own as well. Texts are compared as all of the
/// stores do, or by their code points if the stores differ. The next read sees the latest changes of each store.
///
/// The state of changes is known to each store only: `outpost.entityExists(path)` is answered here,
/// `outpost.isLocal()` and the other state functions are not, and the entities do not have state annotations.
///
/// ```swift
/// let (sales, staff) = (store, try await OfflineStore.open(at: folder, protection: protection))
/// let seller = AttachedStores.Relation(
///     "Seller", from: "sales_Orders", to: "staff_Employees", where: ["EmployeeID": "ID"])
/// let both = try await AttachedStores.open(["sales": sales, "staff": staff], relations: [seller])
/// let url = try ODataURL(parsing: "sales_Orders?$filter=Seller/City eq 'Oslo'&$expand=Seller")
/// let orders = try await DataService(both).entities(url)
/// try both.close()
/// ```
public final class AttachedStores: ODataProvider {
    /// The most stores that can be read at once: SQLite attaches no more.
    public static let maximumCount = 10

    /// A navigation property that leads from one store to another.
    ///
    /// ```swift
    /// let seller = AttachedStores.Relation(
    ///     "Seller", from: "sales_Orders", to: "staff_Employees", where: ["EmployeeID": "ID"])
    /// ```
    public struct Relation: Hashable, Sendable {
        /// The name of the navigation property.
        public var name: String
        /// The set at which it starts, with the name of its store: `sales_Orders`.
        public var source: String
        /// The set to which it leads.
        public var target: String
        /// The properties that are equal, by name: those of the source with those of the target.
        public var properties: [String: String]

        /// Creates a relation that leads to one entity.
        public init(_ name: String, from source: String, to target: String, where properties: [String: String]) {
            self.name = name
            self.source = source
            self.target = target
            self.properties = properties
        }
    }

    /// The model of all stores.
    public let model: EntityDataModel
    private let connection: DatabaseQueue
    private let provider: StoreProvider
    /// The numbers of the models with which the stores were opened, by the names of the stores in SQL.
    private let modelNumbers: [String: Int]

    /// The traits of a single read-only store. Texts are compared as the stores do, and queries may call
    /// `entityExists`.
    public let traits: ProviderTraits

    private init(
        model: EntityDataModel, connection: DatabaseQueue, provider: StoreProvider, modelNumbers: [String: Int]
    ) {
        self.modelNumbers = modelNumbers
        self.model = model
        self.connection = connection
        self.provider = provider
        traits = provider.traits
    }

    /// Opens a connection that reads all stores, each with its own key.
    ///
    /// - Parameters:
    ///   - stores: open stores by the prefixes of their sets: letters, digits and underscores.
    ///   - relations: the navigation properties between stores.
    /// - Throws: ``OfflineError/cannotAttach(reason:)``; ``OfflineError/modelOutdated``; `StoreError`.
    public static func open(
        _ stores: [String: OfflineStore], relations: [Relation] = []
    ) async throws -> AttachedStores {
        let named = stores.sorted { $0.key < $1.key }
        guard (1...maximumCount).contains(named.count) else {
            throw OfflineError.cannotAttach(reason: "between 1 and \(maximumCount) stores can be read at once.")
        }
        let model = try AttachedModel(named, relations).model
        let mapping = OfflineLayout(model: model).mapping
        var views = [
            "CREATE TEMP VIEW \(OfflineLayout.hiddenOwnerTable.sqlIdentifier) AS SELECT 0 AS id WHERE 0"
        ]
        for (name, store) in named { views += Self.views(of: store, name, in: mapping) }
        let connection = try StoreDatabase.attached(
            named.map { ($0.key, $0.value.database) }, views: views,
            options: named[0].value.options.connections(createsFile: false))
        let schemas = named.map { StoreDatabase.attachedName($0.key) }
        let modelNumbers = try await connection.read { database in
            Dictionary(
                uniqueKeysWithValues: try schemas.map { ($0, try LocalModel.number(of: $0, in: database)) })
        }
        // Checked after the stores were read: their current models must be the ones with which they were opened.
        for (_, store) in named { try await store.checkModel() }
        var providerOptions = StoreProvider.Options()
        providerOptions.isReadOnly = true
        providerOptions.maxPageSize = nil
        providerOptions.now = { [environment = named[0].value.environment] in environment.instant }
        let texts = Set(named.map(\.value.texts))
        let forms = texts.count == 1 ? texts.first?.forms : nil
        providerOptions.functions = StateFunctions.addingEntityExists(to: FunctionRegistry(textForms: forms))
        return AttachedStores(
            model: model, connection: connection,
            provider: StoreProvider(database: connection, mapping: mapping, options: providerOptions),
            modelNumbers: modelNumbers)
    }

    /// The tables of a store under their names in this connection, without rows that are not downloaded yet.
    private static func views(
        of store: OfflineStore, _ name: String, in mapping: StorageMapping
    ) -> [String] {
        let schema = StoreDatabase.attachedName(name).sqlIdentifier
        var views: Set<String> = []
        for (set, table) in store.mapping.tables {
            guard let here = mapping.tables["\(name)_\(set)"] else { continue }
            views.insert(
                """
                CREATE TEMP VIEW \(here.table.sqlIdentifier) AS
                SELECT * FROM \(schema).\(table.table.sqlIdentifier) WHERE
                \(OfflineLayout.ownerColumn) NOT IN (SELECT id FROM \(schema).\(OfflineLayout.hiddenOwnerTable))
                """)
            for (path, navigation) in table.navigation {
                guard case .link(_, let link, _, _) = navigation,
                    case .link(_, let linkHere, _, _)? = here.navigation[path]
                else { continue }
                views.insert(
                    "CREATE TEMP VIEW \(linkHere.sqlIdentifier) AS "
                        + "SELECT * FROM \(schema).\(link.sqlIdentifier)")
            }
        }
        return views.sorted()
    }

    /// Answers a read.
    ///
    /// - Throws: `ODataError`, 405 for a change; ``OfflineError/modelOutdated`` if one of the stores has a new
    ///   model since; `StoreError`.
    public func execute(_ request: ODataRequest) async throws -> ODataResponse {
        let answer: ODataResponse
        do {
            answer = try await provider.execute(request)
        } catch {
            try await checkModels()
            throw error
        }
        try await checkModels()
        return answer
    }

    private func checkModels() async throws {
        try await connection.read { [modelNumbers] database in
            for (schema, number) in modelNumbers { try LocalModel.require(number, of: schema, in: database) }
        }
    }

    /// Closes the connection; the stores stay open.
    public func close() throws { try connection.close() }
}

/// The model of several stores, each set with the name of its store before its own.
private struct AttachedModel {
    private static let namespace = "Outpost.Attached.V1"
    let model: EntityDataModel

    init(_ stores: [(key: String, value: OfflineStore)], _ relations: [AttachedStores.Relation]) throws {
        var schemas: [ODataSchema] = []
        var container = EntityContainer(name: QualifiedName(Self.namespace, "Container"))
        for (name, store) in stores {
            guard Self.isName(name) else {
                throw OfflineError.cannotAttach(reason: "\(name) is no name for a store.")
            }
            let local = try LocalModel.combined(store.serviceModel, store.options.creation)
            for schema in local.schemas {
                let types = ODataSchema(
                    namespace: schema.namespace, alias: schema.alias, structuredTypes: schema.structuredTypes,
                    enumTypes: schema.enumTypes, typeDefinitions: schema.typeDefinitions)
                guard let known = schemas.first(where: { $0.namespace == schema.namespace }) else {
                    schemas.append(types)
                    continue
                }
                guard known == types else {
                    throw OfflineError.cannotAttach(
                        reason: "two of the stores mean different types by the namespace \(schema.namespace).")
                }
            }
            func here(_ bindings: [NavigationPropertyBinding]) -> [NavigationPropertyBinding] {
                bindings.map { binding in
                    let target = binding.target.split(separator: "/").last.map(String.init) ?? binding.target
                    return NavigationPropertyBinding(path: binding.path, target: "\(name)_\(target)")
                }
            }
            container.entitySets += local.container.entitySets.map {
                EntitySet(name: "\(name)_\($0.name)", type: $0.type, bindings: here($0.bindings))
            }
            container.singletons += local.container.singletons.map {
                Singleton(
                    name: "\(name)_\($0.name)", type: $0.type, isNullable: $0.isNullable, bindings: here($0.bindings))
            }
        }
        for relation in relations { try Self.add(relation, to: &container, &schemas) }
        do {
            model = try EntityDataModel(
                schemas: schemas + [ODataSchema(namespace: Self.namespace, container: container)], version: .v401)
        } catch {
            throw OfflineError.cannotAttach(reason: "\(error)")
        }
    }

    private static func isName(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, first.isASCII, first.properties.isAlphabetic else { return false }
        return name.unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType == .decimal || $0 == "_")
        }
    }

    private static func add(
        _ relation: AttachedStores.Relation, to container: inout EntityContainer, _ schemas: inout [ODataSchema]
    ) throws {
        guard let source = container.entitySets.firstIndex(where: { $0.name == relation.source }),
            let target = container.entitySets.first(where: { $0.name == relation.target }), !relation.properties.isEmpty
        else {
            throw OfflineError.cannotAttach(
                reason: "\(relation.name) does not lead from \(relation.source) to \(relation.target).")
        }
        let type = container.entitySets[source].type
        container.entitySets[source].bindings.append(.init(path: relation.name, target: relation.target))
        let navigation = NavigationProperty(
            name: relation.name, target: target.type, isCollection: false,
            constraints: relation.properties.sorted { $0.key < $1.key }.map {
                ReferentialConstraint(property: $0.key, referencedProperty: $0.value)
            })
        for index in schemas.indices {
            guard let place = schemas[index].structuredTypes.firstIndex(where: { $0.name == type }) else { continue }
            schemas[index].structuredTypes[place].navigationProperties.append(navigation)
        }
    }
}
