import Foundation
import Testing

/// `outpost serve` with clients of other kinds.
@Suite struct ServeTests {
    private func curl(_ arguments: String...) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["curl", "--silent", "--max-time", "30"] + arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    @Test func `clients of OData 2.0 read, create, change and delete the same data`() async throws {
        let site = try Site()
        try await site.serve()
        let root = site.url + "v2/"
        let metadata = try curl(root + "$metadata")
        #expect(metadata.contains("DataServiceVersion=\"2.0\"") && metadata.contains("<FunctionImport") == false)
        let one = try curl(root + "Orders(1001)?$format=json")
        #expect(one.hasPrefix("{\"d\":{\"__metadata\":{"), "\(one.prefix(300))")
        #expect(one.contains("\"uri\":\"\(root)Orders(1001)\""))
        let feed = try curl(root + "Customers?$top=2&$inlinecount=allpages")
        #expect(feed.contains("<feed") && feed.contains("<m:count>"), "\(feed.prefix(300))")
        let created = try curl(
            "--request", "POST", "--header", "Content-Type: application/json", "--header", "Accept: application/json",
            "--data", "{\"CustomerID\":\"NEWCO\",\"CompanyName\":\"New\",\"Country\":\"Norway\"}", "--write-out",
            "|%{http_code}",
            root + "Customers")
        #expect(created.hasSuffix("|201"), "\(created)")
        let merged = try curl(
            "--request", "MERGE", "--header", "Content-Type: application/json", "--header", "If-Match: *", "--data",
            "{\"City\":\"Oslo\"}", "--write-out", "%{http_code}", root + "Customers('NEWCO')")
        #expect(merged == "204", "\(merged)")
        #expect(
            try SQLite.text("SELECT City FROM Customers WHERE CustomerID = 'NEWCO'", in: site.database) == "Oslo")
        let deleted = try curl(
            "--request", "DELETE", "--header", "If-Match: *", "--write-out", "%{http_code}",
            root + "Customers('NEWCO')")
        #expect(deleted == "204", "\(deleted)")
    }

    @Test func `links lead back through a proxy, scripts of an origin may read, and pages are packed`() async throws {
        let site = try Site()
        try await site.serve(
            nil, port: 0, "--base-url", "https://api.example/shop", "--cors", "https://app.example", "--page-size", "2")
        let page = try curl(site.url + "Customers")
        #expect(page.contains("https://api.example/shop/$metadata#Customers"), "\(page.prefix(300))")
        #expect(page.contains("https://api.example/shop/Customers?$skiptoken="))
        let old = try curl(site.url + "v2/Customers?$format=json")
        #expect(old.contains("https://api.example/shop/v2/Customers"), "\(old.prefix(300))")
        let head = try curl(
            "--header", "Origin: https://app.example", "--header", "Accept-Encoding: gzip", "--dump-header", "-",
            "--output", "/dev/null", site.url + "$metadata"
        ).lowercased()
        #expect(head.contains("access-control-allow-origin: https://app.example"), "\(head)")
        #expect(head.contains("content-encoding: gzip"))
        #expect(try curl(site.url + "health") == "{\"status\":\"pass\"}")
    }

    @Test func `a clone that another process brings to a new model is served with that`() async throws {
        let (service, site) = (try Site(), try Site())
        try await service.serve()
        let (clone, port) = (site.path("clone"), service.port)
        #expect(try await site.tool.run("clone", service.url, clone).code == 0)
        try await site.serve(path: clone, "--open")
        let url = site.url
        #expect(try curl(url + "Customers('C0001')").contains("Bergen"))
        service.stop()
        try SQLite.execute(
            "ALTER TABLE Customers DROP COLUMN City; ALTER TABLE Customers ADD COLUMN Phone VARCHAR(20) DEFAULT '4711'",
            in: service.database)
        try await service.serve(nil, port: port)
        let pull = try await site.tool.run("pull", clone, "--metadata")
        #expect(pull.code == 0, "\(pull.errors)")
        let found = try curl(url + "Customers?$filter=Phone%20eq%20'4711'%20and%20CustomerID%20eq%20'C0001'")
        #expect(found.contains("4711") && !found.contains("City"), "\(found)")
        let changed = try curl(
            "--request", "PATCH", "--header", "Content-Type: application/json", "--header", "If-Match: *", "--data",
            "{\"Phone\":\"4712\"}", "--write-out", "%{http_code}", "--output", "/dev/null", url + "Customers('C0001')")
        #expect(changed == "204" || changed == "200", "\(changed)")
    }

    @Test func `a metadata document is served with its rows`() async throws {
        let site = try Site()
        let model = """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01"><edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="N"><EntityType Name="Item"><Key>
            <PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Since" Type="Edm.Date"/></EntityType><EntityContainer Name="C">
            <EntitySet Name="Items" EntityType="N.Item"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
        try Data(model.utf8).write(to: URL(fileURLWithPath: site.path("model.xml")))
        try Data(#"{"Items":[{"ID":1,"Since":"2020-02-29"},{"ID":2}]}"#.utf8).write(
            to: URL(fileURLWithPath: site.path("rows.json")))
        try await site.serve(path: site.path("model.xml"), "--rows", site.path("rows.json"))
        let url = site.url
        #expect(try curl(url + "Items/$count") == "2")
        #expect(try curl(url + "Items(1)/Since/$value") == "2020-02-29")
        #expect(try curl(url + "v2/Items(1)/Since?$format=json") == #"{"d":{"Since":"\/Date(1582934400000)\/"}}"#)
    }

    @Test(
        "Options that exclude each other are refused",
        arguments: [
            (["--token-issuer", "https://login.example/"], "--token-audience"),
            (["--tls-clients", "ca.pem"], "--tls-"),
            (["--cors", "*", "--cors", "https://a.example"], "--cors"), (["--base-url", "shop"], "--base-url"),
        ])
    func mistakes(_ arguments: [String], _ option: String) async throws {
        let site = try Site()
        try await site.serve()
        site.stop()
        let (process, _, errors) = site.tool.process(["serve", site.database, "--port", "0"] + arguments)
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus != 0)
        #expect(text.contains(option), "\(text)")
    }

    @Test func `a service of OData 2.0 is cloned, edited without it, and gets the changes`() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        let cloned = try await tool.run(
            "clone", site.url + "v2/", clone, "--query", "products=Products", "--query", "categories=Categories")
        #expect(cloned.code == 0, "\(cloned.output) \(cloned.errors)")
        #expect(try await tool.run("query", clone, "Categories/$count").output == "5\n")
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=4711").code == 0)
        let pushed = try await tool.run("push", clone)
        #expect(pushed.code == 0, "\(pushed.output) \(pushed.errors)")
        #expect(try curl(site.url + "Products(6)/Stock/$value") == "4711")
        let pulled = try await tool.run("pull", clone)
        #expect(pulled.code == 0, "\(pulled.output) \(pulled.errors)")
    }
}
