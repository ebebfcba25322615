import ODataModel
import ODataSQL

/// The draft of a table's or view's type.
struct ForeignTableDraft {
    /// A served column.
    struct Member {
        /// The column; `nil` for the rowid of a table without a key.
        var column: ForeignSchema.Column?
        var property: Property
        var storage: ColumnStorage
    }

    /// The element of the model that represents the table.
    enum Role {
        case entitySet, function
    }

    var table: ForeignSchema.Table
    var role: Role
    /// The name of the entity set or function.
    var set: String
    /// The name of the entity or complex type.
    var type = ""
    var members: [Member] = []
    /// The names of the key columns in the database.
    var keyColumns: [String] = []
    var navigation: [NavigationProperty] = []
    var navigationStorage: [String: NavigationStorage] = [:]
    var bindings: [NavigationPropertyBinding] = []
    /// The names of properties and navigation properties.
    var names = ForeignNames()

    init(table: ForeignSchema.Table, role: Role, set: String) {
        self.table = table
        self.role = role
        self.set = set
    }

    /// Returns the served column with a name.
    func member(_ column: String) -> Member? {
        let folded = ForeignSchema.folded(column)
        return members.first { ForeignSchema.folded($0.storage.name) == folded }
    }

    func structuredType(namespace: String) -> StructuredType {
        StructuredType(
            name: QualifiedName(namespace, type), kind: role == .entitySet ? .entity : .complex,
            key: keyColumns.compactMap { member($0).map { .init(path: $0.property.name) } },
            properties: members.map(\.property), navigationProperties: navigation,
            annotations: ForeignModelBuilder.originalName(table.name, servedAs: set))
    }
}
