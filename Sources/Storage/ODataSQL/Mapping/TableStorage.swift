import ODataModel

/// The table of an entity set.
public struct TableStorage: Sendable {
    /// The name of the entity set.
    public var set: String {
        get { content[0].set }
        set { content[0].set = newValue }
    }

    /// The shape of the set's declared type; derived types share the table.
    public var shape: TypeShape {
        get { content[0].shape }
        set { content[0].shape = newValue }
    }

    /// The name of the table or view, unquoted.
    public var table: String {
        get { content[0].table }
        set { content[0].table = newValue }
    }

    /// The integer column that identifies rows for SQLite (`_id`, `rowid`).
    ///
    /// `nil` for views and tables WITHOUT ROWID, whose rows are identified by their key.
    public var rowID: String? {
        get { content[0].rowID }
        set { content[0].rowID = newValue }
    }

    /// The storage of the shape's properties, by ordinal.
    public var properties: [PropertyStorage] {
        get { content[0].properties }
        _modify { yield &content[0].properties }
    }

    /// The storage of the properties of derived types that ``shape`` lacks, by type and in the order of the derived
    /// shape.
    ///
    /// The ordinals of a derived type refer to `properties + derivedProperties[type]`. Derived types with a common
    /// base type share the columns of the base type.
    public var derivedProperties: [QualifiedName: [PropertyStorage]] {
        get { content[0].derivedProperties }
        _modify { yield &content[0].derivedProperties }
    }

    /// The column with the name of a row's type if it is a derived type.
    public var discriminator: String? {
        get { content[0].discriminator }
        set { content[0].discriminator = newValue }
    }

    /// The joins of the navigation properties, by name.
    public var navigation: [String: NavigationStorage] {
        get { content[0].navigation }
        _modify { yield &content[0].navigation }
    }

    /// The navigation properties with link tables that lead to at most one row.
    var singleLinks: Set<String> {
        get { content[0].singleLinks }
        _modify { yield &content[0].singleLinks }
    }

    /// The source of a row's ETag.
    public var etag: ETagStorage {
        get { content[0].etag }
        set { content[0].etag = newValue }
    }

    /// Whether rows cannot be changed.
    public var isReadOnly: Bool {
        get { content[0].isReadOnly }
        set { content[0].isReadOnly = newValue }
    }

    /// The model with the derived types and enumerations of the table, set by the mapping of the table.
    public internal(set) var model: EntityDataModel? {
        get { content[0].model }
        set { content[0].model = newValue }
    }

    /// The columns of the key, computed once for all statements.
    var knownKeyColumns: [ColumnStorage]? {
        get { content[0].knownKeyColumns }
        set { content[0].knownKeyColumns = newValue }
    }

    /// The indices of ``columns`` by name, computed once for all statements.
    var columnBits: [String: Int] {
        get { content[0].columnBits }
        set { content[0].columnBits = newValue }
    }

    /// The indices in ``columns`` for the properties of ``shape`` with a single column, by ordinal.
    var propertyBits: [Int?] {
        get { content[0].propertyBits }
        set { content[0].propertyBits = newValue }
    }

    /// The column with the dynamic properties of an open type as a JSON object.
    public var dynamicProperties: String? {
        get { content[0].dynamicProperties }
        set { content[0].dynamicProperties = newValue }
    }

    /// The column with the bits of columns that are *not loaded*; NULL if all columns are loaded.
    ///
    /// Otherwise, the value is a BLOB: bit `n % 8` of byte `n / 8` is set if the `n`-th of ``columns`` is not
    /// loaded. Missing bytes count as zeros. A column that is not loaded contains NULL, so that the expressions of a URL
    /// can ignore the bits. They are needed when a value is read, and before a dynamic query.
    public var notLoaded: String? {
        get { content[0].notLoaded }
        set { content[0].notLoaded = newValue }
    }

    /// The rule that hides rows of unfinished first downloads; `nil` if all rows are visible.
    public var visibility: Visibility? {
        get { content[0].visibility }
        set { content[0].visibility = newValue }
    }

    /// Whether NaN is stored as a BLOB that only this library reads.
    ///
    /// Existing databases do not allow NaN. Their other programs could not read the value, and the column would no
    /// longer be recognized as numeric.
    public var storesNaN: Bool {
        get { content[0].storesNaN }
        set { content[0].storesNaN = newValue }
    }

    /// All properties in a single array element. A table has two dozen references and is copied for each statement;
    /// an array is modified in place and copied on write.
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

    /// A rule that hides rows whose owner has an unfinished first download.
    public struct Visibility: Hashable, Sendable {
        /// The column with the owner.
        public var ownerColumn: String
        /// The table whose `id` column lists hidden owners; it is nearly always empty.
        public var hiddenTable: String

        /// Creates a rule.
        public init(ownerColumn: String, hiddenTable: String) {
            self.ownerColumn = ownerColumn
            self.hiddenTable = hiddenTable
        }
    }

    /// Creates the storage of a table.
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

    /// The columns of all properties, each once, in a fixed order.
    ///
    /// The columns of the declared type come first, by ordinal and depth-first for complex values, without presence
    /// columns. The columns of derived types follow, by type name.
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

    /// The names of the derived types with additional properties, in a fixed order.
    var derivedTypes: [QualifiedName] {
        derivedProperties.isEmpty ? [] : derivedProperties.keys.sorted { $0.description < $1.description }
    }

    /// Returns the storage of each property of the declared type or a derived type, by the ordinals of `type`.
    public func properties(of type: TypeShape) -> [PropertyStorage] {
        type == shape ? properties : properties + (derivedProperties[type.name] ?? [])
    }
}
