import ODataModel
import ODataQuery
import ODataService
import ODataStore

/// The unbound functions and actions of the service, and those that are also bound to the collection of
/// products.
enum ServiceOperations {
    private static let product = ReferenceDefinition.name("Product")

    static func register(in definition: inout ServiceDefinition) throws {
        try registerTopProducts(in: &definition)
        try registerStatistics(in: &definition)
        try registerPlainFunctions(in: &definition)
        try registerActions(in: &definition)
    }

    /// Registers `GetTopProducts`, unbound and bound to products, with none, one and two parameters.
    private static func registerTopProducts(in definition: inout ServiceDefinition) throws {
        let count = OperationParameter("count", .primitive(.int64))
        let category = OperationParameter("category", .primitive(.string))
        for binding in [nil, OperationBinding.collection(product)] {
            for parameters in [[], [count], [count, category]] {
                try definition.function(
                    "GetTopProducts", on: binding, parameters: parameters, returns: .collection(.entity(product)),
                    in: "Products"
                ) { call in
                    let count: Int64 = try call.argument("count") ?? 10
                    guard count >= 0 else {
                        throw ODataError(
                            status: 400, code: "InvalidParameter", message: "count must be 0 or more.", target: "count")
                    }
                    var query = ResourceQuery("Products").orderBy("Price", descending: true).orderBy("Name")
                        .top(Int(clamping: count))
                    if let category: String = try call.argument("category") {
                        query = query.filter(.property("Category/Name") == .value(.string(category)))
                    }
                    return .query(query.url.urlEncoded())
                }
            }
        }
    }

    /// Registers `GetProductStats`, unbound and bound to products.
    private static func registerStatistics(in definition: inout ServiceDefinition) throws {
        let type = ReferenceDefinition.name("ProductStats")
        for binding in [nil, OperationBinding.collection(product)] {
            try definition.function("GetProductStats", on: binding, returns: .complex(type)) { call in
                let products = try binding == nil ? call.transaction.entities("Products") : call.boundEntities()
                let prices = products.map(ProductOperations.price)
                guard let shape = call.transaction.model.shape(type) else { return .none }
                return .value(
                    .complex(
                        ODataEntity(
                            shape: shape,
                            [
                                "totalProducts": .integer(Int64(prices.count)),
                                "averagePrice": .double(
                                    prices.isEmpty ? 0 : prices.reduce(0, +) / Double(prices.count)),
                                "maxPrice": .double(prices.max() ?? 0), "minPrice": .double(prices.min() ?? 0),
                            ])))
            }
        }
    }

    private static func registerPlainFunctions(in definition: inout ServiceDefinition) throws {
        try definition.function(
            "FindProducts", parameters: [.init("name", .primitive(.string)), .init("maxPrice", .primitive(.double))],
            returns: .collection(.entity(product)), in: "Products"
        ) { call in
            let name: String = try call.argument("name")
            let limit: Double = try call.argument("maxPrice")
            let found = ResourceQuery("Products")
                .filter(.function(.contains, .property("Name"), .value(.string(name))))
                .filter(.property("Price") <= .value(.double(limit)))
            return .query(found.url.urlEncoded())
        }
        try definition.function(
            "Calculate", parameters: [.init("value", .primitive(.int64))], returns: .primitive(.int64)
        ) {
            call in
            let value: Int64 = try call.argument("value")
            return try sum(value, value)
        }
        try definition.function(
            "Calculate", parameters: [.init("a", .primitive(.int64)), .init("b", .primitive(.int64))],
            returns: .primitive(.int64)
        ) { call in
            let (first, second): (Int64, Int64) = try (call.argument("a"), call.argument("b"))
            return try sum(first, second)
        }
        try definition.function(
            "Convert", parameters: [.init("input", .primitive(.string))], returns: .primitive(.string)
        ) {
            call in
            let input: String = try call.argument("input")
            return .value(.string("String: \(input)"))
        }
        try definition.function(
            "Convert", parameters: [.init("number", .primitive(.int64))], returns: .primitive(.string)
        ) {
            call in
            let number: Int64 = try call.argument("number")
            return .value(.string("Number: \(number)"))
        }
    }

    private static func sum(_ first: Int64, _ second: Int64) throws -> OperationResult {
        let (sum, overflow) = first.addingReportingOverflow(second)
        guard !overflow else {
            throw ODataError(status: 400, code: "Overflow", message: "The sum exceeds 64 bits.")
        }
        return .value(.integer(sum))
    }

    private static func registerActions(in definition: inout ServiceDefinition) throws {
        for name in ["ResetAllPrices", "ResetProducts"] {
            // The initial prices of the products.
            let prices = try ReferenceData.prices()
            try definition.action(name) { call in
                for product in try call.transaction.entities("Products") {
                    guard case .string(let name)? = product["Name"], let price = prices[name] else { continue }
                    try call.transaction.update(product, ["Price": .double(price)])
                }
                return .none
            }
        }
        let rows = try ReferenceData.rows(for: definition.model)
        try definition.action("Reseed") { call in
            try call.transaction.seed(rows, replacesAll: true)
            return .none
        }
        let percentage = OperationParameter("percentage", .primitive(.double))
        for parameters in [[percentage], [percentage, .init("minPrice", .primitive(.double))]] {
            try definition.action("Process", parameters: parameters) { call in
                let percentage = try ProductOperations.percentage(call)
                let lowest: Double = try call.argument("minPrice") ?? 0
                for entity in try call.transaction.entities("Products") {
                    let price = ProductOperations.price(of: entity)
                    guard price >= lowest else { continue }
                    try call.transaction.update(entity, ["Price": .double(price * (1 - percentage / 100))])
                }
                return .none
            }
        }
    }
}
