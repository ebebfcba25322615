import TestModels
import ODataModel
import ODataQuery

/// The rows of the shop: entities whose relations are resolved by key.
struct ShopData: EvaluationSource {
    let model: EntityDataModel
    private let sets: [String: [Row]]

    struct Row: EvaluationRow {
        let entity: ODataEntity
        let related: @Sendable (String) -> [any EvaluationRow]

        var typeName: QualifiedName { entity.typeName }
        var key: EntityKey? { entity.key }
        var dynamicPropertyNames: [String] { entity.dynamicPropertyNames }
        func property(_ name: String) -> ODataValue? {
            entity.property(name) ?? (entity.shape.property(name) == nil ? nil : .null)
        }
        func related(through path: String) -> [any EvaluationRow] { related(path) }
        func annotation(_ term: String) -> ODataValue? { term == "Freight@Core.Unit" ? "EUR" : nil }
    }

    var maxRows: Int { 10_000 }

    func rows(of set: String) -> [any EvaluationRow] { sets[set] ?? [] }
    func singleton(_ name: String) -> (any EvaluationRow)? { name == "Me" ? sets["Employees"]?.first : nil }

    init() throws {
        model = try ShopModel.make()
        func entity(_ set: String, _ properties: [String: ODataValue], type: String? = nil) throws -> ODataEntity {
            guard let shape = type.map({ model.shape(QualifiedName("Shop", $0)) }) ?? model.shape(ofSet: set) else {
                throw ModelError.duplicateName(set)
            }
            return ODataEntity(shape: shape, properties)
        }
        let model = model
        func address(_ city: String) -> ODataValue {
            guard let shape = model.shape(QualifiedName("Shop", "Address")) else { return .null }
            return .complex(ODataEntity(shape: shape, ["City": .string(city), "Country": "CH"]))
        }
        func decimal(_ text: String) -> ODataValue { ODataDecimal(text).map { .decimal($0) } ?? .null }
        let orders = try [
            entity(
                "Orders",
                [
                    "OrderID": 1, "Freight": decimal("10.5"), "ShipCity": "Bern", "CustomerID": "A", "Pieces": 3,
                    "Weight": .double(1.5), "Address": address("Bern"),
                    "Stops": .collection([address("Thun"), address("Bern")]),
                    "Tags": ["red", "blue"], "Style": .enumeration(3), "Paid": true,
                    "OrderDate": .dateTimeOffset(
                        ODataDateTimeOffset("2024-02-29T23:30:15.25+02:00") ?? ODataDateTimeOffset(seconds: 0)),
                    "Took": .duration(ODataDuration(seconds: 90)),
                    "Where": .geo(GeoValue(.geography, .point(.init(x: 7.44, y: 46.95)))),
                ]),
            entity(
                "Orders",
                [
                    "OrderID": 2, "Freight": decimal("20.25"), "ShipCity": "Basel", "CustomerID": "A", "Pieces": 7,
                    "Weight": .double(.nan), "Tags": [], "Paid": false,
                    "Where": .geo(GeoValue(.geography, .point(.init(x: 7.59, y: 47.56)))),
                ]),
            entity(
                "Orders", ["OrderID": 3, "ShipCity": "Zürich", "CustomerID": "B", "Total": .integer(.max), "Pieces": 0]),
            entity("Orders", ["OrderID": 4, "Freight": decimal("5"), "ShipCity": "Bern", "Pieces": 2]),
        ]
        let customers = try [
            entity("Customers", ["CustomerID": "A", "CompanyName": "Red Wagon", "Country": "CH"]),
            entity("Customers", ["CustomerID": "B", "CompanyName": "Blue Note", "Country": "DE"]),
        ]
        let items = try [(1, 1, "2.5", 4), (1, 2, "3", 1), (2, 1, "2", 10), (3, 3, "1", 1)].map {
            try entity(
                "Items",
                [
                    "OrderID": .integer(Int64($0.0)), "ProductID": .integer(Int64($0.1)), "UnitPrice": decimal($0.2),
                    "Quantity": .integer(Int64($0.3)),
                ])
        }
        let products = try [
            entity("Products", ["ProductID": 1, "Name": "Tea"]), entity("Products", ["ProductID": 2, "Name": "Cup"]),
            entity(
                "Products", ["ProductID": 3, "Name": "Old Pot", "Ended": .date(ODataDate(daysSinceEpoch: 0))],
                type: "OldProduct"),
        ]
        let employees = try [(1, "Ann", nil), (2, "Bob", 1), (3, "Cy", 1), (4, "Di", 2)].map {
            (id: Int64, name: String, _: Int64?) in
            try entity("Employees", ["ID": .integer(id), "Name": .string(name)])
        }
        let managers: [Int64: Int64] = [2: 1, 3: 1, 4: 2]
        let all = [
            "Orders": orders, "Customers": customers, "Items": items, "Products": products, "Employees": employees,
        ]
        @Sendable func find(_ set: String, _ name: String, _ value: ODataValue?) -> [any EvaluationRow] {
            guard let value, !value.isNull else { return [] }
            return (all[set] ?? []).filter { $0[name] == value }.map { row(set, $0) }
        }
        @Sendable func row(_ set: String, _ entity: ODataEntity) -> Row {
            Row(entity: entity) { path in
                switch (set, path) {
                case ("Orders", "Customer"): find("Customers", "CustomerID", entity["CustomerID"])
                case ("Orders", "Items"): find("Items", "OrderID", entity["OrderID"])
                case ("Orders", "Address/Shop"): find("Customers", "CustomerID", "A")
                case ("Customers", "Orders"): find("Orders", "CustomerID", entity["CustomerID"])
                case ("Items", "Product"): find("Products", "ProductID", entity["ProductID"])
                case ("Items", "Order"): find("Orders", "OrderID", entity["OrderID"])
                case ("Employees", "Manager"):
                    if case .integer(let id)? = entity["ID"] {
                        find("Employees", "ID", managers[id].map { .integer($0) })
                    } else {
                        []
                    }
                case ("Employees", "Reports"):
                    managers.keys.sorted().filter { entity["ID"] == managers[$0].map { .integer($0) } }.flatMap {
                        find("Employees", "ID", .integer($0))
                    }
                default: []
                }
            }
        }
        sets = all.reduce(into: [:]) { sets, pair in sets[pair.key] = pair.value.map { row(pair.key, $0) } }
    }

    /// Evaluates a URL.
    func page(_ url: String, functions: FunctionRegistry = FunctionRegistry()) throws -> EvaluatedPage {
        let bound = try Binder(model: model, functions: functions).bind(ODataURL(parsing: url))
        return try Evaluator(model: model, source: self, now: ODataDateTimeOffset(seconds: 1_700_000_000)).evaluate(
            bound)
    }
}
