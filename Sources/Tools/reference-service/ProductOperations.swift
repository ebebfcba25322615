import Foundation
import ODataModel
import ODataQuery
import ODataService
import ODataStore

enum ProductOperations {
    static let product = ReferenceDefinition.name("Product")

    static func register(in definition: inout ServiceDefinition) throws {
        try registerFunctions(in: &definition)
        try registerActions(in: &definition)
    }

    private static func registerFunctions(in definition: inout ServiceDefinition) throws {
        try definition.function(
            "GetTotalPrice", on: .entity(product), parameters: [.init("taxRate", .primitive(.double))],
            returns: .primitive(.double)
        ) { call in
            let rate: Double = try call.argument("taxRate")
            return .value(.double(try price(of: call.boundEntity()) * (1 + rate)))
        }
        for parameters in [["discount"], ["discount", "tax"]] {
            try definition.function(
                "CalculatePrice", on: .entity(product), parameters: parameters.map { .init($0, .primitive(.double)) },
                returns: .primitive(.double)
            ) { call in
                let discount: Double = try call.argument("discount")
                let tax: Double = try call.argument("tax") ?? 0
                return .value(.double(try price(of: call.boundEntity()) * (1 - discount / 100) * (1 + tax / 100)))
            }
        }
        try definition.function(
            "GetRelatedProducts", on: .entity(product), returns: .collection(.entity(product)), in: "Products"
        ) { call in
            let entity = try call.boundEntity()
            guard case .guid(let id)? = entity["ID"], case .guid(let category)? = entity["CategoryID"] else {
                return .entities([])
            }
            let others = ResourceQuery("Products")
                .filter(.property("CategoryID") == .value(.guid(category)) && .property("ID") != .value(.guid(id)))
                .orderBy("Name").top(5)
            return .query(others.url.urlEncoded())
        }
        try definition.function(
            "GetInfo", on: .entity(product), parameters: [.init("format", .primitive(.string))],
            returns: .primitive(.string)
        ) { call in
            let entity = try call.boundEntity()
            let format: String = try call.argument("format")
            guard case .string(let name)? = entity["Name"] else { return .value(.null) }
            let text = String(format: "%.2f", locale: Locale(identifier: "en_US_POSIX"), price(of: entity))
            return .value(.string("Product: \(name) (Price: \(text)) in \(format) format"))
        }
        try definition.function("GetAveragePrice", on: .collection(product), returns: .primitive(.double)) { call in
            let prices = try call.boundEntities().map(price)
            return .value(.double(prices.isEmpty ? 0 : prices.reduce(0, +) / Double(prices.count)))
        }
    }

    private static func registerActions(in definition: inout ServiceDefinition) throws {
        try definition.action(
            "ApplyDiscount", on: .entity(product), parameters: [.init("percentage", .primitive(.double))],
            returns: .entity(product), in: "Products"
        ) { call in
            let percentage = try Self.percentage(call)
            let entity = try call.boundEntity()
            return .entity(
                try call.transaction.update(entity, ["Price": .double(price(of: entity) * (1 - percentage / 100))]))
        }
        try definition.action(
            "CalculateDiscount", on: .entity(product), parameters: [.init("percentage", .primitive(.double))],
            returns: .primitive(.double)
        ) { call in
            let percentage = try Self.percentage(call)
            return .value(.double(try price(of: call.boundEntity()) * (1 - percentage / 100)))
        }
        try definition.action(
            "IncreasePrice", on: .entity(product), parameters: [.init("amount", .primitive(.double))]
        ) { call in
            let amount: Double = try call.argument("amount")
            let entity = try call.boundEntity()
            try call.transaction.update(entity, ["Price": .double(price(of: entity) + amount)])
            return .none
        }
        try definition.action("Activate", on: .entity(product)) { call in
            let entity = try call.boundEntity()
            guard case .enumeration(let status)? = entity["Status"] else { return .none }
            try call.transaction.update(
                entity, ["Status": .enumeration(status & ~Status.discontinued | Status.inStock)])
            return .none
        }
        try definition.action("MarkAllAsReviewed", on: .collection(product)) { _ in .none }
    }

    private enum Status {
        static let inStock: Int64 = 1
        static let discontinued: Int64 = 4
    }

    static func price(of entity: ODataEntity) -> Double {
        if case .double(let price)? = entity["Price"] { price } else { 0 }
    }

    /// Returns the parameter `percentage`, which must be from 0 to 100.
    static func percentage(_ call: ServiceCall) throws -> Double {
        let percentage: Double = try call.argument("percentage")
        guard (0...100).contains(percentage) else {
            throw ODataError(
                status: 400, code: "InvalidParameter", message: "percentage must be from 0 to 100.",
                target: "percentage")
        }
        return percentage
    }
}
