import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The shared parts of a service: the mapping of its tables, the rules of each set, and the writers.
final class ServiceCore: Sendable {
    let definition: ServiceDefinition
    let options: StoreService.Options
    let mapping: StorageMapping
    let binder: Binder
    /// The access of callers; `nil` if all callers have full access.
    let access: AccessControl?
    /// A reader without access restrictions.
    let reader: StoreReader
    /// The sets whose entities can have streams.
    let streamSets: Set<String>
    /// The source of the ETags in each set.
    let etags: [String: ETagRule]
    /// The rules of the writers.
    let rules: WriteRules
    private let baseWriter: RowWriter

    init(_ definition: ServiceDefinition, _ options: StoreService.Options, mapping: StorageMapping) {
        self.definition = definition
        self.options = options
        self.mapping = mapping
        let binder = Binder(model: mapping.model)
        self.binder = binder
        access = definition.authorization.map { AccessControl($0, mapping: mapping, binder: binder) }
        reader = StoreReader(
            mapping: mapping,
            configuration: StoreReader.Configuration(options.serving),
            snapshots: ResultSnapshots(options.snapshotLimits), for: nil)
        streamSets = Set(mapping.tables.values.filter { $0.hasStreams(in: mapping.model) }.map(\.set))
        etags = mapping.tables.mapValues {
            ETagRule(
                of: $0, in: mapping.model, counter: definition.changeCounters[$0.set],
                isWanted: definition.givesETagsToAll)
        }
        var rules = WriteRules()
        rules.ignoresImmutable = true
        rules.updatesRelated = true
        rules.watchesReferences = true
        rules.tellsUnchanged = true
        rules.guardedSets = Set(
            mapping.tables.values.filter { options.requiresETags || ETagRule.isRequired($0, in: mapping.model) }.map(
                \.set))
        rules.requiresPrincipals = options.requiresPrincipals
        rules.etagProperties = etags.mapValues { Set($0.properties) }
        for table in mapping.tables.values {
            var reserved: Set<String> = []
            if case .counter(let property)? = etags[table.set] { reserved.insert(property) }
            for rule in definition.values where rule.overrides && rule.applies(to: table.shape, in: mapping.model) {
                reserved.insert(rule.property)
            }
            rules.reserved[table.set] = reserved
        }
        self.rules = rules
        baseWriter = RowWriter(mapping: mapping, hook: nil, rules: rules)
    }

    /// Resolves a URL relative to the service root.
    func bind(_ url: ODataURL) throws -> BoundURL {
        do throws(QueryError) { return try binder.bind(url) } catch { throw ODataError(error) }
    }

    // MARK: Writers

    /// A writer for requests of clients.
    var writer: RowWriter { writer(ServiceHook(core: self)) }

    /// A writer without restrictions, for the code of the service.
    var trustedWriter: RowWriter {
        var writer = writer(ServiceHook(core: self, isTrusted: true))
        writer.rules.guardedSets = []
        writer.rules.ignoresCapabilities = true
        writer.rules.reserved = [:]
        return writer
    }

    /// A writer for seed rows, which may include values that the service would otherwise set.
    var seedingWriter: RowWriter {
        var writer = writer(ServiceHook(core: self, isTrusted: true, isSeeding: true))
        writer.rules.takesComputedValues = true
        // Seed data without a stated precision of durations may have any precision.
        writer.check = ValueCheck(model: mapping.model, checks: .all.subtracting(.unstatedPrecision))
        writer.rules.ignoresCapabilities = true
        writer.rules.requiresPrincipals = false
        return writer
    }

    private func writer(_ hook: ServiceHook) -> RowWriter {
        var writer = baseWriter
        writer.hook = hook
        return writer
    }

    // MARK: Authorization

    /// Returns the filter on the rows that a caller sees; `nil` for all rows.
    func rowFilter(_ principal: Principal?, _ set: String) throws -> RowFilter? {
        guard mapping.tables[set] != nil else { return nil }
        return try access?.rowFilter(principal, set)
    }

    /// Returns a reader with the access of a caller.
    func reader(for principal: Principal?) -> StoreReader { access?.reader(reader, for: principal) ?? reader }
}

/// The source of a row's ETag.
enum ETagRule: Hashable, Sendable {
    /// The rows have no ETag.
    case none
    /// A property that is incremented by each change.
    case counter(String)
    /// A digest of the values of some properties.
    case values([String])
    /// A number from a sequence of the service; no number is used twice.
    case sequence

    private static let term = Vocabulary.optimisticConcurrency

    /// The properties that determine the ETag.
    var properties: [String] {
        switch self {
        case .counter(let name): [name]
        case .values(let names): names
        case .none, .sequence: []
        }
    }

    /// Returns whether the model requires changes of the set's entities to state an ETag (OData Protocol 4.01,
    /// 11.4.1.1).
    static func isRequired(_ table: TableStorage, in model: EntityDataModel) -> Bool { stated(table, model) != nil }

    private static func stated(_ table: TableStorage, _ model: EntityDataModel) -> Annotation? {
        let annotations = model.entitySet(table.set)?.annotations ?? model.singleton(table.set)?.annotations ?? []
        return annotations.annotation(term) ?? table.shape.annotations.annotation(term)
    }

    /// Creates the rule of a table.
    ///
    /// - Parameters:
    ///   - counter: the property that counts changes according to the service definition.
    ///   - isWanted: whether sets without a rule of their own have ETags.
    init(of table: TableStorage, in model: EntityDataModel, counter: String?, isWanted: Bool) {
        let stated = Self.stated(table, model)
        if stated == nil, let counter {
            self = .counter(counter)
            return
        }
        guard case .collection(let items)? = stated?.value else {
            self = isWanted || stated != nil ? .sequence : .none
            return
        }
        let paths = items.compactMap { item -> String? in
            switch item {
            case .path(_, let text): text
            case .constant(_, let text): text
            default: nil
            }
        }
        guard let first = paths.first else {
            self = .sequence
            return
        }
        if paths.count == 1, table.shape.property(first)?.type.primitive?.integerRange != nil {
            self = .counter(first)
        } else {
            self = .values(paths)
        }
    }
}
