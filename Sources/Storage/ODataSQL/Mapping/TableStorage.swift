import ODataModel

/// The table of one entity set.
public struct TableStorage: Sendable {
    /// The entity set's name.
    public var set: String {
        get { content[0].set }
        set { content[0].set = newValue }
    }

    /// The shape of the set's declared type; derived types share the table.
    public var shape: TypeShape {
        get { content[0].shape }
        set { content[0].shape = newValue }
    }

    /// The table's or view's name, unquoted.
    public var table: String {
        get { content[0].table }
        set { content[0].table = newValue }
    }

    /// The integer column that identifies rows for SQLite (`_id`, `rowid`); `nil` for tables WITHOUT ROWID
    /// and views, whose rows are addressed by key.
    public var rowID: String? {
        get { content[0].rowID }
        set { content[0].rowID = newValue }
    }

    /// The columns of the shape's properties, by ordinal.
    public var properties: [PropertyStorage] {
        get { content[0].properties }
        _modify { yield &content[0].properties }
    }

    /// The columns of the properties that a derived type has beyond ``shape``, by type and in the order of
    /// the derived shape: `properties + derivedProperties[type]` covers all its ordinals. Derived types
    /// with a common base between them and ``shape`` name that base's columns alike.
    public var derivedProperties: [QualifiedName: [PropertyStorage]] {
        get { content[0].derivedProperties }
        _modify { yield &content[0].derivedProperties }
    }

    /// The column that holds a row's type when it is a derived one.
    public var discriminator: String? {
        get { content[0].discriminator }
        set { content[0].discriminator = newValue }
    }

    /// The joins of the navigation properties, by name.
    public var navigation: [String: NavigationStorage] {
        get { content[0].navigation }
        _modify { yield &content[0].navigation }
    }

    /// The navigation properties, of those kept in link tables, that lead to one row at most.
    var singleLinks: Set<String> {
        get { content[0].singleLinks }
        _modify { yield &content[0].singleLinks }
    }

    /// Where a row's ETag comes from.
    public var etag: ETagStorage {
        get { content[0].etag }
        set { content[0].etag = newValue }
    }

    /// Whether rows can be changed.
    public var isReadOnly: Bool {
        get { content[0].isReadOnly }
        set { content[0].isReadOnly = newValue }
    }

    /// The model that the table is mapped for: where derived types and enumerations are found. Set by the
    /// mapping that the table belongs to.
    public internal(set) var model: EntityDataModel? {
        get { content[0].model }
        set { content[0].model = newValue }
    }

    /// The columns of the key, found once for all statements.
    var knownKeyColumns: [ColumnStorage]? {
        get { content[0].knownKeyColumns }
        set { content[0].knownKeyColumns = newValue }
    }

    /// The indices of ``columns`` by their names, found once for all statements.
    var columnBits: [String: Int] {
        get { content[0].columnBits }
        set { content[0].columnBits = newValue }
    }

    /// The same indices for the properties of ``shape`` that lie in a column each, by ordinal.
    var propertyBits: [Int?] {
        get { content[0].propertyBits }
        set { content[0].propertyBits = newValue }
    }

    /// The column whose JSON object holds the dynamic properties of an open type.
    public var dynamicProperties: String? {
        get { content[0].dynamicProperties }
        set { content[0].dynamicProperties = newValue }
    }

    /// The column that tells which columns of a row are *not loaded*: NULL when all are, which is
    /// the common case and costs nothing; else a BLOB of bits, where bit `n % 8` of byte `n / 8` is set when
    /// the `n`-th of ``columns`` is not loaded, missing bytes counting as zeros. A column that is not
    /// loaded holds NULL, so that SQL need not look at the bits; they matter when a value is read.
    public var notLoaded: String? {
        get { content[0].notLoaded }
        set { content[0].notLoaded = newValue }
    }

    /// Rows are seen only where this column's value is not in the given table's `id` column; used to hide
    /// what a first download has not finished.
    public var visibility: Visibility? {
        get { content[0].visibility }
        set { content[0].visibility = newValue }
    }

    /// Whether NaN may be stored, as a BLOB of our own that only we read. Not in a foreign database: the column
    /// would hold what its other programs cannot read, and would not be a number any more when it is next served.
    public var storesNaN: Bool {
        get { content[0].storesNaN }
        set { content[0].storesNaN = newValue }
    }

    /// All of it, in one element: a table has two dozen references, and copies of it are made for each statement. An array
    /// is changed in place and copied on write.
    private var content: [Content]

    private struct Content: Sendable {
        var set: String
        var shape: TypeShape
        var table: String
        var rowID: String?
        var properties: [PropertyStorage]
        var derivedProperties: [QualifiedName: [PropertyStorage]]
        var discriminator: String?
        var navigation: [String: NavigationStorage]
        var singleLinks: Set<String> = []
        var etag: ETagStorage
        var isReadOnly: Bool
        var model: EntityDataModel?
        var knownKeyColumns: [ColumnStorage]?
        var columnBits: [String: Int] = [:]
        var propertyBits: [Int?] = []
        var dynamicProperties: String?
        var notLoaded: String?
        var visibility: Visibility?
        var storesNaN = true
    }

    /// Hides rows whose owner is still being downloaded.
    public struct Visibility: Hashable, Sendable {
        /// The column that names the owner.
        public var ownerColumn: String
        /// The table whose `id` column lists hidden owners; nearly always empty.
        public var hiddenTable: String

        /// Makes a rule.
        public init(ownerColumn: String, hiddenTable: String) {
            self.ownerColumn = ownerColumn
            self.hiddenTable = hiddenTable
        }
    }

    /// Makes a table's storage.
    public init(
        set: String, shape: TypeShape, table: String, rowID: String?, properties: [PropertyStorage],
        derivedProperties: [QualifiedName: [PropertyStorage]] = [:], discriminator: String? = nil,
        navigation: [String: NavigationStorage] = [:], etag: ETagStorage, isReadOnly: Bool = false,
        visibility: Visibility? = nil, dynamicProperties: String? = nil, notLoaded: String? = nil
    ) {
        content = [
            Content(
                set: set, shape: shape, table: table, rowID: rowID, properties: properties,
                derivedProperties: derivedProperties, discriminator: discriminator, navigation: navigation, etag: etag,
                isReadOnly: isReadOnly, dynamicProperties: dynamicProperties, notLoaded: notLoaded,
                visibility: visibility)
        ]
    }

    /// The columns that hold properties, each once, in a fixed order: those of the declared type by ordinal,
    /// complex values depth first (their presence columns are not among them), then those of derived types
    /// by the types' names.
    public var columns: [ColumnStorage] {
        var result: [ColumnStorage] = []
        var seen: Set<String> = []
        func add(_ storage: PropertyStorage) {
            switch storage {
            case .column(let column): if seen.insert(column.name).inserted { result.append(column) }
            case .complex(_, let properties, _): properties.forEach(add)
            case .absent: break
            }
        }
        properties.forEach(add)
        for (_, storages) in derivedProperties.sorted(by: { $0.key.description < $1.key.description }) {
            storages.forEach(add)
        }
        return result
    }

    /// The names of the derived types that have properties of their own, always in the same order.
    var derivedTypes: [QualifiedName] {
        derivedProperties.isEmpty ? [] : derivedProperties.keys.sorted { $0.description < $1.description }
    }

    /// The storage of each property of the declared type or one derived from it, by the ordinals of `type`.
    public func properties(of type: TypeShape) -> [PropertyStorage] {
        type == shape ? properties : properties + (derivedProperties[type.name] ?? [])
    }
}
