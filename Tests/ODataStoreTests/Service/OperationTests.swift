import Dispatch
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

@Suite("A service on its own model: operations")
struct OperationTests {
    private static let product = Bazaar.name("Product")

    private func bazaar() async throws -> Bazaar {
        let bazaar = try await Bazaar { definition in
            let product = Self.product
            try definition.function(
                "Top", parameters: [.init("count", .primitive(.int64))], returns: .collection(.entity(product)),
                in: "Products"
            ) { call in
                .query("Products?$orderby=Price desc&$top=\(try call.argument("count") as Int)")
            }
            try definition.function("Top", returns: .collection(.entity(product)), in: "Products") { _ in
                .query("Products?$orderby=Price desc")
            }
            try definition.function(
                "TotalPrice", on: .entity(product), parameters: [.init("rate", .primitive(.double))],
                returns: .primitive(.double)
            ) { call in
                let price: Double = try call.boundEntity().read("Price")
                return .value(.double(price * (1 + (try call.argument("rate")))))
            }
            try definition.function(
                "Siblings", on: .entity(product), returns: .collection(.entity(product))
            ) { call in
                let name: String = try call.boundEntity().read("Name")
                return .query("Products?$filter=Name ne '\(name)'&$orderby=Name")
            }
            try definition.function("Average", on: .collection(product), returns: .primitive(.double)) { call in
                let prices = try call.boundEntities().map { try $0.read("Price") as Double }
                return .value(.double(prices.isEmpty ? 0 : prices.reduce(0, +) / Double(prices.count)))
            }
            try definition.function(
                "Twice", parameters: [.init("value", .primitive(.int64))], returns: .primitive(.int64)
            ) {
                call in
                .value(.integer(2 * (try call.argument("value"))))
            }
            try definition.function(
                "Twice", parameters: [.init("value", .primitive(.int64)), .init("more", .primitive(.int64))],
                returns: .primitive(.int64)
            ) { call in
                let (value, more): (Int64, Int64) = (try call.argument("value"), try call.argument("more"))
                return .value(.integer(2 * value + more))
            }
            try definition.action(
                "Discount", on: .entity(product),
                parameters: [
                    .init("percentage", .primitive(.double)), .init("least", .primitive(.double), isOptional: true),
                ],
                returns: .entity(product)
            ) { call in
                let product = try call.boundEntity()
                let percentage: Double = try call.argument("percentage")
                let least: Double = try call.argument("least") ?? 0
                let price = max(least, (try product.read("Price") as Double) * (1 - percentage / 100))
                return .entity(try call.transaction.update(product, ["Price": .double(price)]))
            }
            try definition.action("Reset", on: .collection(product)) { call in
                for product in try call.boundEntities() { try call.transaction.update(product, ["Price": .double(1)]) }
                return .none
            }
            try definition.action("Break") { call in
                try call.transaction.create(
                    call.transaction.newEntity(in: "Categories", ["Name": "x"]), in: "Categories")
                throw ODataError(status: 409, code: "Broken", message: "Not now.")
            }
        }
        for (name, price) in [("a", 10), ("b", 30), ("c", 20)] {
            try await bazaar.create("Products", #"{"Name":"\#(name)","Price":\#(price)}"#)
        }
        return bazaar
    }

    private func id(_ bazaar: Bazaar, _ name: String) async throws -> String {
        try #require(try await bazaar.page("Products?$filter=Name eq '\(name)'").entities.first?.control.id)
    }

    @Test("11.5.5 An action that acted succeeds even if its result cannot be read")
    func actedThoughUnreadable() async throws {
        let bazaar = try await Bazaar { definition in
            try definition.action("Note", returns: .collection(.entity(Self.product))) { call in
                try call.transaction.create(call.transaction.newEntity(in: "Notes", ["Color": "red"]), in: "Notes")
                return .query("Products?$filter=matchesPattern(Name,Name)")
            }
        }
        try await bazaar.create("Products", #"{"Name":"["}"#)
        #expect(try await bazaar.refusal(.read, "Products?$filter=matchesPattern(Name,Name)") != nil)
        #expect(try await bazaar.send(.create, "Note").status == 204)
        #expect(try await bazaar.page("Notes").entities.count == 1)
    }

    private func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

    @Test(.timeLimit(.minutes(5)), arguments: ["Quick()", "Notes"])
    func `a handler is not waited for when the caller disconnects while all connections are busy`(
        path: String
    ) async throws {
        let (busy, free) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let bazaar = try await Bazaar { definition in
            try definition.function("Busy", returns: .primitive(.int64)) { _ in
                busy.signal()
                free.wait()
                return .value(1)
            }
            try definition.function("Quick", returns: .primitive(.int64)) { _ in .value(1) }
            definition.virtualSet("Notes") { _ in [] }
        }
        let service = bazaar.service
        func request(_ path: String) throws -> ODataRequest {
            var request = ODataRequest(.read, try ODataURL(parsing: path))
            request.context.budget = RequestBudget(.served)
            return request
        }
        let (blocking, waiting) = (try request("Busy()"), try request(path))
        let count = 16
        let others = (0..<count).map { _ in Task { _ = try? await service.execute(blocking) } }
        wait(for: busy)
        // The others take all connections.
        try await Task.sleep(for: .milliseconds(200))
        let caller = Task { try await service.execute(waiting) }
        try await Task.sleep(for: .milliseconds(50))
        caller.cancel()
        // The connections stay busy, so that a task that waited for one would not end.
        await #expect(throws: (any Error).self) { _ = try await caller.value }
        for _ in 0..<count { free.signal() }
        for other in others { await other.value }
    }

    @Test("11.5.4 Functions: unbound ones by import, overloads distinguished by their parameters")
    func functions() async throws {
        let bazaar = try await bazaar()
        #expect(try await bazaar.text("Twice(value=4)") == 8)
        #expect(try await bazaar.text("Twice(value=4,more=1)") == 9)
        #expect(try await bazaar.text("Twice(value=@v)?@v=5") == 10)
        #expect(try await bazaar.names("Top(count=2)") == ["b", "c"])
        #expect(try await bazaar.names("Top()") == ["b", "c", "a"])
        let id = try await id(bazaar, "a")
        #expect(try await bazaar.text("\(id)/Bazaar.TotalPrice(rate=0.5)") == .double(15))
        #expect(try await bazaar.text("Products/Bazaar.Average()") == .double(20))
    }

    @Test("11.5.4 functions are composable: query options and path segments work on their results")
    func composition() async throws {
        let bazaar = try await bazaar()
        #expect(try await bazaar.names("Top(count=2)?$filter=Price lt 25") == ["c"])
        #expect(try await bazaar.names("Top(count=2)?$orderby=Name desc&$top=1") == ["c"])
        #expect(try await bazaar.names("Top(count=3)?$top=1&$skip=1") == ["c"])
        #expect(try await bazaar.page("Top(count=2)?$count=true&$top=1").count == 2)
        #expect(try await bazaar.page("Top(count=0)?$filter=Price gt 1&$count=true").count == 0)
        guard case .count(let count) = try await bazaar.send(.read, "Top(count=2)/$count").body else {
            throw ODataError.notFound("count")
        }
        #expect(count == 2)
        let id = try await id(bazaar, "a")
        #expect(try await bazaar.names("\(id)/Bazaar.Siblings()?$filter=Price gt 20") == ["b"])
        let expanded = try await bazaar.page("Top()?$expand=Texts&$select=Name")
        #expect(expanded.entities.allSatisfy { $0.related["Texts"] != nil })
    }

    @Test("11.5.4.1 missing, unknown and wrong parameters are refused by name")
    func parameters() async throws {
        let bazaar = try await bazaar()
        #expect(try await bazaar.refusal(.read, "Twice()") != nil)
        #expect(try await bazaar.refusal(.read, "Twice(value='x')")?.status == 400)
        let id = try await id(bazaar, "a")
        let missing = try await bazaar.refusal(.create, "\(id)/Bazaar.Discount", "{}")
        #expect(missing?.status == 400)
        #expect(missing?.target == "percentage")
        let unknown = try await bazaar.refusal(.create, "\(id)/Bazaar.Discount", #"{"percentage":5,"nonsense":1}"#)
        #expect(unknown?.target == "nonsense")
        let wrong = try await bazaar.refusal(.create, "\(id)/Bazaar.Discount", #"{"percentage":"much"}"#)
        #expect(wrong?.target == "percentage")
    }

    @Test("11.5.5 Actions run in one transaction and return entities or 204")
    func actions() async throws {
        let bazaar = try await bazaar()
        let id = try await id(bazaar, "a")
        let response = try await bazaar.send(.create, "\(id)/Bazaar.Discount", #"{"percentage":50}"#)
        guard case .entity(let product) = response.body else { throw ODataError.notFound("entity") }
        #expect(product["Price"] == .double(5))
        #expect(product["Version"] == 2)
        guard
            case .entity(let least) = try await bazaar.send(
                .create, "\(id)/Bazaar.Discount", #"{"percentage":50,"least":4}"#
            ).body
        else { throw ODataError.notFound("entity") }
        #expect(least["Price"] == .double(4))
        #expect(try await bazaar.send(.create, "Products/Bazaar.Reset", "{}").status == 204)
        #expect(try await bazaar.text("Products/Bazaar.Average()") == .double(1))
        #expect(try await bazaar.refusal(.create, "Break", "{}")?.status == 409)
        #expect(try await bazaar.page("Categories").entities.isEmpty)
        #expect(try await bazaar.refusal(.read, "Break")?.status == 405)
        #expect(try await bazaar.refusal(.create, "Top(count=1)")?.status == 405)
        #expect(
            try await bazaar.refusal(.create, "\(id)/Bazaar.Discount", #"{"percentage":1}"#, ifMatch: "W/\"1\"")?.status
                == 412)
        let nobody = "Products(00000000-0000-0000-0000-000000000000)/Bazaar.Discount"
        #expect(try await bazaar.refusal(.create, nobody, #"{"percentage":1}"#)?.status == 404)
    }

    @Test("11.5.4 complex results accept $select, $filter and $orderby; nested entities are returned unchanged")
    func complexResults() async throws {
        let bazaar = try await Bazaar { definition in
            let name = Bazaar.name("Address")
            let shape = definition.model.shape(name)
            func address(_ city: String) -> ODataValue {
                shape.map { .complex(ODataEntity(shape: $0, ["City": .string(city), "Street": "s"])) } ?? .null
            }
            let (bonn, rome) = (address("Bonn"), address("Rome"))
            try definition.function("Place", returns: .complex(name)) { _ in .value(bonn) }
            try definition.function("Places", returns: .collection(.complex(name))) { _ in .value([bonn, rome]) }
            try definition.function("Lines", returns: .collection(.entity(Bazaar.name("Line")))) { call in
                .entities(try call.transaction.entities("Orders(1)/Lines"))
            }
        }
        guard case .complex(let place)? = try await bazaar.text("Place()?$select=City") else {
            throw ODataError.notFound("Place")
        }
        #expect(place["City"] == "Bonn")
        #expect(place["Street"] == nil)
        guard case .collection(let places)? = try await bazaar.text("Places()?$filter=City eq 'Rome'") else {
            throw ODataError.notFound("Places")
        }
        #expect(places.count == 1)
        try await bazaar.create("Orders", #"{"Lines":[{"No":1,"Text":"a"},{"No":2,"Text":"b"}]}"#)
        #expect(try await bazaar.names("Lines()?$filter=No gt 1", "Text") == ["b"])
    }

    @Test("11.5.4 a function cannot change anything")
    func functionsOnlyRead() async throws {
        let bazaar = try await Bazaar { definition in
            try definition.function("Sneak", returns: .primitive(.int64)) { call in
                let category = try call.transaction.newEntity(in: "Categories", ["Name": "x"])
                try call.transaction.create(category, in: "Categories")
                return .value(1)
            }
        }
        #expect(try await bazaar.refusal(.read, "Sneak()") != nil)
        #expect(try await bazaar.page("Categories").entities.isEmpty)
    }

    @Test("Registered operations and their imports are part of the model")
    func model() async throws {
        let bazaar = try await bazaar()
        #expect(bazaar.service.model.operations(Bazaar.name("Twice")).count == 2)
        #expect(bazaar.service.model.operationImports("Top").first?.entitySet == "Products")
        #expect(throws: ModelError.self) {
            var definition = ServiceDefinition(model: bazaar.service.model)
            try definition.action("Break") { _ in .none }
            try definition.action("Break") { _ in .none }
        }
    }

    @Test("An operation that the model declares keeps its declaration")
    func declared() async throws {
        let raise =
            #"<Action Name="Raise" IsBound="true"><Parameter Name="product" Type="Bazaar.Product"/>"#
            + #"<Parameter Name="by" Type="Edm.Double" Nullable="false"/></Action>"#
        let bazaar = try await Bazaar(replacing: ["<EntityContainer": raise + "<EntityContainer"]) { definition in
            try definition.action("Raise", on: .entity(Self.product), parameters: [.init("by", .primitive(.double))]) {
                call in
                let product = try call.boundEntity()
                let price: Double = try product.read("Price")
                _ = try call.transaction.update(product, ["Price": .double(price + (try call.argument("by")))])
                return .none
            }
        }
        let declared = bazaar.service.model.operations(Bazaar.name("Raise"))
        #expect(declared.map { $0.parameters.map(\.name) } == [["product", "by"]])
        try await bazaar.create("Products", #"{"Name":"a","Price":2}"#)
        let id = try await id(bazaar, "a")
        #expect(try await bazaar.send(.create, "\(id)/Bazaar.Raise", #"{"by":3}"#).status == 204)
        #expect(try await bazaar.entity(id)?["Price"] == .double(5))
    }
}

@Suite("A service on its own model: entities without a table")
struct VirtualSetTests {
    private func bazaar() async throws -> Bazaar {
        try await Bazaar { definition in
            let category = definition.model.shape(Bazaar.name("Category"))
            definition.virtualSet("Fixed") { read in
                guard let category else { return [] }
                let count = try read.transaction.entities("Categories").count
                return (1...5).map { number in
                    ODataEntity(
                        shape: category, ["ID": .integer(Int64(number)), "Name": .string("n\(number + count)")])
                }
            }
            try definition.function("Made", returns: .collection(.entity(Bazaar.name("Category")))) { _ in
                guard let category else { return .none }
                return .entities([
                    ODataEntity(shape: category, ["ID": 7, "Name": "x"]),
                    ODataEntity(shape: category, ["ID": 8, "Name": "y"]),
                ])
            }
        }
    }

    @Test("A virtual entity set supports filters, orders, selections, keys, counts and pages, and refuses changes")
    func virtualSet() async throws {
        let bazaar = try await bazaar()
        try await bazaar.create("Categories", #"{"Name":"Kitchen"}"#)
        #expect(try await bazaar.names("Fixed?$filter=ID gt 3&$orderby=Name desc") == ["n6", "n5"])
        #expect(try await bazaar.entity("Fixed(2)")?["Name"] == "n3")
        #expect(try await bazaar.entity("Fixed(2)")?.control.id == "Fixed(2)")
        #expect(try await bazaar.text("Fixed(2)/Name") == "n3")
        #expect(try await bazaar.refusal(.read, "Fixed(9)")?.status == 404)
        guard case .count(let count) = try await bazaar.send(.read, "Fixed/$count?$filter=ID lt 3").body else {
            throw ODataError.notFound("count")
        }
        #expect(count == 2)
        let first = try await bazaar.page("Fixed?$count=true", preferences: Preferences(maxPageSize: 3))
        #expect(first.entities.count == 3)
        #expect(first.count == 5)
        #expect(try await bazaar.follow(first.nextLink, preferences: Preferences(maxPageSize: 3)).entities.count == 2)
        #expect(try await bazaar.refusal(.delete, "Fixed(1)")?.status == 405)
    }

    @Test("11.5.4 query options work on entities that a function creates")
    func transientResults() async throws {
        let bazaar = try await bazaar()
        #expect(try await bazaar.names("Made()") == ["x", "y"])
        #expect(try await bazaar.names("Made()?$filter=ID eq 8") == ["y"])
        #expect(try await bazaar.page("Made()?$orderby=ID desc&$top=1&$count=true").count == 2)
    }
}
