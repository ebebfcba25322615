import ODataModel

/// Where a model's data lies in a SQLite database: for each entity set its table, for each property its
/// columns, for each navigation property its join.
///
/// The SQL compiler works on a mapping and knows nothing else of a database. The offline store's own
/// layout is one mapping; each database of somebody else's that is served is another.
public struct StorageMapping: Sendable {
    /// The model that is mapped.
    public let model: EntityDataModel
    /// The tables by entity set name.
    public let tables: [String: TableStorage]
    /// What the columns of link tables hold, by table and column.
    package let linkEnds: [String: [String: LinkEnd]]
    /// What functions without parameters mean that queries call to ask of a row what no property of it tells, by the
    /// functions' names; the binder must know them too (``StoreProvider/Options/functions``).
    public var rowConditions: [String: RowCondition] = [:]
    /// The functions of the model that the connections can compute, by ``ScalarFunction/name(declared:)``.
    var computedFunctions: Set<String> = []

    /// Makes a mapping.
    public init(model: EntityDataModel, tables: [TableStorage]) {
        self.model = model
        let known = tables.map { table in
            var table = table
            table.model = model
            table.knownKeyColumns = table.keyColumns
            table.columnBits = Dictionary(
                table.columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
            return (table.set, table)
        }
        self.tables = Dictionary(known, uniquingKeysWith: { first, _ in first })
        linkEnds = LinkEnd.all(of: tables)
    }
}

/// The table of one entity set.
public struct TableStorage: Sendable {
    /// The entity set's name.
    public var set: String
    /// The shape of the set's declared type; derived types share the table.
    public var shape: Shape
    /// The table's or view's name, unquoted.
    public var table: String
    /// The integer column that identifies rows for SQLite (`_id`, `rowid`); `nil` for tables WITHOUT ROWID
    /// and views, whose rows are addressed by key.
    public var rowID: String?
    /// The columns of the shape's properties, by ordinal.
    public var properties: [PropertyStorage]
    /// The columns of the properties that a derived type has beyond ``shape``, by type and in the order of
    /// the derived shape: `properties + derivedProperties[type]` covers all its ordinals. Derived types
    /// with a common base between them and ``shape`` name that base's columns alike.
    public var derivedProperties: [QualifiedName: [PropertyStorage]]
    /// The column that holds a row's type when it is a derived one.
    public var discriminator: String?
    /// The joins of the navigation properties, by name.
    public var navigation: [String: NavigationStorage]
    /// The navigation properties, of those kept in link tables, that lead to one row at most.
    var singleLinks: Set<String> = []
    /// Where a row's ETag comes from.
    public var etag: ETagStorage
    /// Whether rows can be changed.
    public var isReadOnly: Bool
    /// The model that the table is mapped for: where derived types and enumerations are found. Set by the
    /// mapping that the table belongs to.
    public internal(set) var model: EntityDataModel?
    /// The columns of the key, found once for all statements.
    var knownKeyColumns: [ColumnStorage]?
    /// The indices of ``columns`` by their names, found once for all statements.
    var columnBits: [String: Int] = [:]
    /// The column whose JSON object holds the dynamic properties of an open type.
    public var dynamicProperties: String?
    /// The column that tells which columns of a row are *not loaded* (rule 12): NULL when all are, which is
    /// the common case and costs nothing; else a BLOB of bits, where bit `n % 8` of byte `n / 8` is set when
    /// the `n`-th of ``columns`` is not loaded, missing bytes counting as zeros. A column that is not
    /// loaded holds NULL, so that SQL need not look at the bits; they matter when a value is read.
    public var notLoaded: String?
    /// Rows are seen only where this column's value is not in the given table's `id` column; used to hide
    /// what a first download has not finished.
    public var visibility: Visibility?
    /// Whether NaN may be stored, as a BLOB of our own that only we read. Not in a foreign database: the column
    /// would hold what its other programs cannot read, and would not be a number any more when it is next served.
    public var storesNaN = true

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
        set: String, shape: Shape, table: String, rowID: String?, properties: [PropertyStorage],
        derivedProperties: [QualifiedName: [PropertyStorage]] = [:], discriminator: String? = nil,
        navigation: [String: NavigationStorage] = [:], etag: ETagStorage, isReadOnly: Bool = false,
        visibility: Visibility? = nil, dynamicProperties: String? = nil, notLoaded: String? = nil
    ) {
        self.set = set
        self.shape = shape
        self.table = table
        self.rowID = rowID
        self.properties = properties
        self.derivedProperties = derivedProperties
        self.discriminator = discriminator
        self.navigation = navigation
        self.etag = etag
        self.isReadOnly = isReadOnly
        self.visibility = visibility
        self.dynamicProperties = dynamicProperties
        self.notLoaded = notLoaded
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

    /// The storage of each property of the declared type or one derived from it, by the ordinals of `type`.
    public func properties(of type: Shape) -> [PropertyStorage] {
        type == shape ? properties : properties + (derivedProperties[type.name] ?? [])
    }
}

/// Where a property's value lies.
public indirect enum PropertyStorage: Hashable, Sendable {
    /// In one column.
    case column(ColumnStorage)
    /// A complex value flattened into columns, by ordinal of its shape; the presence column tells null from
    /// a value whose properties are all null.
    case complex(Shape, [PropertyStorage], presence: String)
    /// Nowhere: the layout cannot hold it. Reading it is 501 with the property's name.
    case absent
}

/// One column with the way values are written in it.
public struct ColumnStorage: Hashable, Sendable {
    /// The column's name, unquoted.
    public var name: String
    /// The type of the values.
    public var type: TypeReference
    /// How values are stored.
    public var codec: ColumnCodec
    /// Whether the database gives the value when an insert leaves it out (rowid keys, defaults).
    public var isGenerated: Bool
    /// For layouts where *not loaded* differs from null (rule 12): whether this column can be not loaded.
    public var isOptionallyLoaded: Bool
    /// Whether text in the column is known to compare by its bytes, as where no collation is declared. Statements name
    /// the collation of others, which makes SQLite sort twice as much for groups.
    public var comparesBytes: Bool

    /// Makes a column.
    public init(
        name: String, type: TypeReference, codec: ColumnCodec, isGenerated: Bool = false,
        isOptionallyLoaded: Bool = false, comparesBytes: Bool = false
    ) {
        self.name = name
        self.type = type
        self.codec = codec
        self.isGenerated = isGenerated
        self.isOptionallyLoaded = isOptionallyLoaded
        self.comparesBytes = comparesBytes
    }
}

/// How OData values are written in a column. Every codec keeps the exact value, and its stored order is
/// the values' order, unless it says otherwise.
public enum ColumnCodec: Hashable, Sendable {
    /// INTEGER, the number itself; enumerations too.
    case integer
    /// INTEGER, 0 or 1.
    case boolean
    /// REAL; NaN, which SQLite cannot store, as the BLOB `nan`.
    case double
    /// REAL, read back as binary32; NaN as in ``double``.
    case single
    /// TEXT.
    case string
    /// BLOB.
    case binary
    /// BLOB of sixteen bytes in text order.
    case guid
    /// INTEGER, days since 1970-01-01.
    case date
    /// INTEGER, picoseconds since midnight.
    case timeOfDay
    /// BLOB, order-preserving: seconds (8 bytes, sign bit flipped, big-endian), picoseconds (8 bytes).
    case dateTime
    /// BLOB, order-preserving: as ``dateTime``, then the offset in minutes (2 bytes, biased by 840).
    case dateTimeOffset
    /// BLOB, order-preserving: as ``dateTime``.
    case duration
    /// INTEGER, the number times 10^scale.
    case scaledDecimal(scale: Int)
    /// BLOB, order-preserving, see `DecimalKey`.
    case decimalBytes
    /// TEXT holding JSON: collections, dynamic properties and geo values. Not ordered.
    case json
    /// A foreign column of numeric affinity: INTEGER, REAL or numeric TEXT, read as an exact decimal.
    case numericDecimal
    /// A foreign column with `YYYY-MM-DD` text.
    case dateText
    /// A foreign column with `hh:mm:ss` text.
    case timeText
    /// A foreign column with date-time text of one written form, taken as UTC.
    case dateTimeText(DateTimeTextForm)
    /// A foreign column with an integer of seconds or milliseconds since 1970.
    case unixTime(unitsPerSecond: Int)
    /// A foreign column with the text of a GUID.
    case guidText

    /// A written form of date-time text in a foreign column.
    public struct DateTimeTextForm: Hashable, Sendable {
        /// Between date and time: a space or `T`.
        public var separator: Character
        /// Fractional digits, 0 to 12.
        public var fractionDigits: Int
        /// What follows the time: nothing, or `Z`.
        public var suffix: String

        /// Makes a form.
        public init(separator: Character, fractionDigits: Int, suffix: String) {
            self.separator = separator
            self.fractionDigits = fractionDigits
            self.suffix = suffix
        }
    }
}

/// How a navigation property is joined.
public enum NavigationStorage: Hashable, Sendable {
    /// Rows of the target's table whose columns equal this row's columns, pairwise.
    case join(target: String, pairs: [ColumnPair])
    /// Rows of the target's table linked through a table of row id pairs.
    case link(target: String, table: String, sourceColumn: String, targetColumn: String)

    /// Two columns that are equal where rows are related.
    public struct ColumnPair: Hashable, Sendable {
        /// The column of the source's table.
        public var source: String
        /// The column of the target's table.
        public var target: String

        /// Makes a pair.
        public init(source: String, target: String) {
            self.source = source
            self.target = target
        }
    }

    /// The entity set that it leads to.
    public var target: String {
        switch self {
        case .join(let target, _), .link(let target, _, _, _): target
        }
    }
}

/// Where the ETag of a row comes from.
public enum ETagStorage: Hashable, Sendable {
    /// A column holds the ETag as the back end gave it, quotes included.
    case column(String)
    /// A digest of the row's stored values: any change by anybody changes it.
    case contentDigest
    /// Rows have none.
    case none
}
