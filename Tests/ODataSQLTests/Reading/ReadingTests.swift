import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL

@Suite("Reading")
struct ReadingTests {
    let traders: Traders

    init() throws { traders = try Traders() }

    @Test("A page as JSON has context, count, entities with ETags and control information")
    func json() async throws {
        let text = try await traders.json("Customers?$count=true&$select=ID,Name,Address&$top=2")
        #expect(
            text == #"{"@context":"http://nw/$metadata#Customers(ID,Name,Address)","@count":4,"value":["#
                + #"{"@etag":"\"a1\"","ID":"A","Name":"Älpler","Address":{"City":"Berlin","Zip":"10115"}},"#
                + #"{"@etag":"\"b1\"","ID":"B","Name":"Bär & Söhne","Address":null}]}"#)
    }

    @Test("4.0 writes the prefix odata., and derived rows state their type")
    func json40() async throws {
        let format = ResponseFormat(version: .v4, serviceRoot: "http://nw/")
        let text = try await traders.json("Customers?$filter=ID eq 'C'", format: format)
        #expect(
            text == #"{"@odata.context":"http://nw/$metadata#Customers","value":[{"@odata.type":"#
                + ##""#NW.Vip","@odata.etag":"\"c1\"","ID":"C","Name":null,"Address":{"City":null,"Zip":null},"##
                + #""Tags":null,"Phones":[],"Discount":15.5}]}"#)
    }

    @Test("Every codec is written as OData JSON")
    func codecs() async throws {
        let text = try await traders.json(
            "Orders?$filter=OrderID eq 1&$select=OrderID,OrderDate,Freight,Placed,Rating,"
                + "Took,Weight,Shipped,Seen,Token")
        #expect(
            text.contains(
                #""OrderID":1,"OrderDate":"2024-01-15","Freight":32.38,"Placed":"2024-01-15T10:00:00+02:00","#
                    + #""Rating":1.5,"Took":"PT1H","Weight":0.1,"Shipped":true,"Seen":"2023-11-14T22:13:20Z","#
                    + #""Token":"0f8fad5b-d9cb-469f-a165-70867728950e""#), "\(text)")
        #expect(
            try await traders.json("Customers?$filter=ID eq 'A'").contains(
                #""Phones":[{"Kind":"home","Rate":0.10,"Since":"2020-01-02"},{"Kind":"work","Rate":12.5,"Since":null}],"#
                    + #""Size":5,"Note":"x""#))
        #expect(try await traders.json("Orders?$filter=OrderID eq 3&$select=Rating").contains(#""Rating":"NaN""#))
        #expect(try await traders.json("Orders?$filter=OrderID eq 3&$select=Rating").contains(#""@id":"Orders(3)""#))
    }

    @Test("A property that is not loaded is neither null nor written")
    func notLoaded() async throws {
        let entity = try #require(try await traders.page("Customers?$filter=ID eq 'C'").entities.first)
        #expect(entity["Country"] == nil && entity["Name"] == .null && entity.control.type == Traders.name("Vip"))
        #expect(entity["Discount"] == .decimal(try #require(ODataDecimal("15.5"))))
        let selected = try #require(
            try await traders.page("Customers?$filter=ID eq 'C'&$select=Name,Country").entities.first)
        #expect(selected["Country"] == nil && selected["Name"] == .null)
    }

    @Test("$expand nests related rows with their own options")
    func expand() async throws {
        #expect(
            try await traders.json(
                "Customers?$select=ID&$expand=Orders($select=OrderID;$orderby=OrderID desc;$top=1;$count=true)",
                format: ResponseFormat(metadata: .none))
                == #"{"value":[{"ID":"A","Orders@count":2,"Orders":[{"OrderID":2}]},"#
                + #"{"ID":"B","Orders@count":1,"Orders":[{"OrderID":3}]},{"ID":"C","Orders@count":0,"Orders":[]},"#
                + #"{"ID":"D","Orders@count":1,"Orders":[{"OrderID":4}]}]}"#)
        #expect(
            try await traders.json(
                "Orders?$select=OrderID&$filter=OrderID ge 4&$expand=Customer($select=ID;$expand=Friends($select=ID))",
                format: ResponseFormat(metadata: .none))
                == #"{"value":[{"OrderID":4,"Customer":{"ID":"D","Friends":[{"ID":"A"}]}},"#
                + #"{"OrderID":5,"Customer":null}]}"#)
        let page = try await traders.page("Orders(1)/Items?$expand=*")
        #expect(page.entities.count == 2)
    }

    @Test("$levels expands a hierarchy")
    func levels() async throws {
        #expect(
            try await traders.json(
                "Employees?$filter=Boss eq null&$select=ID&$expand=Reports($select=ID;$levels=max)",
                format: ResponseFormat(metadata: .none))
                == #"{"value":[{"ID":1,"Reports":[{"ID":2,"Reports":[{"ID":4,"Reports":[]}]},{"ID":3,"Reports":[]}]}]}"#
        )
        #expect(
            try await traders.json(
                "Employees?$filter=ID eq 1&$select=ID&$expand=Reports($select=ID;$levels=2)",
                format: ResponseFormat(metadata: .none))
                == #"{"value":[{"ID":1,"Reports":[{"ID":2,"Reports":[{"ID":4}]},{"ID":3,"Reports":[]}]}]}"#)
    }

    @Test("Entities by key, navigation from a key, properties, values and counts")
    func single() async throws {
        guard case .entity(let order) = try await traders.response("Orders(1)?$select=Freight&$expand=Customer").body
        else {
            Issue.record("no entity")
            return
        }
        #expect(
            order["OrderID"] == 1 && order.control.id == "Orders(1)" && order.control.etag?.hasPrefix("W/\"") == true)
        guard case .one(let customer)? = order.related["Customer"] else {
            Issue.record("no customer")
            return
        }
        #expect(customer["ID"] == "A")
        guard case .entity(let other) = try await traders.response("Orders(1)/Customer").body else {
            Issue.record("no entity")
            return
        }
        #expect(other["ID"] == "A")
        #expect(try await traders.keys("Customers('A')/Orders?$orderby=OrderID desc") == ["2", "1"])
        #expect(try await traders.keys("Customers('A')/Friends") == ["B", "D"])
        guard case .count(2) = try await traders.response("Customers('A')/Orders/$count").body else {
            Issue.record("not two")
            return
        }
        for (path, count) in [
            ("Customers('A')/Tags/$count", 2), ("Customers('B')/Tags/$count", 0), ("Customers('A')/Phones/$count", 2),
            ("Customers('A')/Phones/$count?$filter=Kind eq 'work'", 1),
        ] as [(String, Int64)] {
            guard case .count(count) = try await traders.response(path).body else {
                Issue.record("\(path) is not \(count)")
                return
            }
        }
        guard case .value(.string("Berlin"), _) = try await traders.response("Customers('A')/Address/City").body else {
            Issue.record("not Berlin")
            return
        }
        guard case .raw(let bytes, "text/plain") = try await traders.response("Orders(1)/Freight/$value").body else {
            Issue.record("no text")
            return
        }
        #expect(try await bytes.collect(limit: 100) == Array("32.38".utf8))
        #expect(try await traders.response("Orders(5)/Customer").status == 204)
        for url in ["Orders(99)", "Orders(99)/Customer", "Customers('Z')/Orders", "Orders(99)/Freight"] {
            let error = await #expect(throws: ODataError.self) { _ = try await traders.response(url) }
            #expect(error?.status == 404, "\(url)")
        }
    }

    @Test("A digest changes exactly when its row changes")
    func digest() async throws {
        let before = try await traders.page("Orders").entities.map(\.control.etag)
        try await traders.queue.write { try $0.execute(sql: "UPDATE orders SET rating = 2 WHERE id = 2") }
        let after = try await traders.page("Orders").entities.map(\.control.etag)
        #expect(zip(before, after).map { $0 == $1 } == [true, false, true, true, true])
    }

    @Test("A long result is read in bounded chunks, and writers work in between")
    func stream() async throws {
        try await traders.queue.write { database in
            for id in 10..<20_010 {
                try database.execute(
                    sql: "INSERT INTO orders(id, customer_id) VALUES (?, ?)", arguments: [id, "customer \(id)"])
            }
        }
        let format = ResponseFormat(serviceRoot: "http://nw/")
        guard case .encoded(let stream, _) = try await traders.response("Orders?$count=true", format: format).body
        else {
            Issue.record("no stream")
            return
        }
        var bytes: [UInt8] = []
        var chunks = 0
        while let chunk = try await stream.next() {
            #expect(!chunk.isEmpty && chunk.count <= 65_536)
            bytes += chunk
            chunks += 1
            try await traders.queue.write { try $0.execute(sql: "UPDATE employee SET boss = boss") }
        }
        #expect(chunks > 10)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("\"@count\":20005"))
        let entities = try JSONScanner.scan(bytes) { scanner in
            var count = 0
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                guard key == "value" else {
                    try scanner.skipValue()
                    continue
                }
                try scanner.beginArray()
                while try scanner.nextElement() {
                    try scanner.skipValue()
                    count += 1
                }
            }
            try scanner.expectEnd()
            return count
        }
        #expect(entities == 20_005)
    }

    @Test("An invalid stored value names table, column and row")
    func badValue() async throws {
        try await traders.queue.write { try $0.execute(sql: "UPDATE orders SET date = 'soon' WHERE id = 3") }
        let error = await #expect(throws: StoredValueError.self) { _ = try await traders.page("Orders") }
        #expect(error?.table == "orders" && error?.column == "date" && error?.row == "OrderID=3")
    }

    @Test("Rows of an unfinished download are hidden everywhere")
    func hidden() async throws {
        // The table has no owner column, so that another column is used for the condition.
        var tables = Array(traders.mapping.tables.values)
        for index in tables.indices where tables[index].set == "Customers" {
            tables[index].visibility = .init(ownerColumn: "zip", hiddenTable: "hidden")
        }
        try await traders.queue.write {
            try $0.execute(sql: "CREATE TABLE hidden(id); INSERT INTO hidden VALUES ('83720')")
        }
        let mapping = StorageMapping(model: traders.model, tables: tables)
        let reader = StoreReader(
            mapping: mapping,
            configuration: .init(now: { ODataDateTimeOffset(seconds: 0) }, hasHiddenOwners: { _ in true }))
        for (url, count) in [
            ("Customers", 3), ("Customers('A')/Friends", 1), ("Orders?$filter=Customer/Country eq 'USA'", 0),
        ] {
            let request = ODataRequest(.read, try ODataURL(parsing: url))
            guard
                case .page(let page) = try await reader.read(traders.bind(url), request: request, in: traders.queue)
                    .body
            else { continue }
            #expect(page.entities.count == count, "\(url)")
        }
    }
}
