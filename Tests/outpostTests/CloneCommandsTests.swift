import ForeignPrograms
import Foundation
import Testing

@Suite("Commands on a clone")
struct CloneCommandsTests {
    @Test("add-query and remove-query change the offline data")
    func queries() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone, "--query", "categories=Categories").code == 0)
        let added = try await tool.run(
            "add-query", clone, "norway=Customers?$filter=Country eq 'Norway'", "--group", "daily")
        #expect(added.output.contains("Added norway."), "\(added.errors)")
        let again = try await tool.run("add-query", clone, "norway=Products")
        #expect(again.code == 1)
        #expect(again.errors.contains("norway"))
        #expect(try await tool.run("pull", clone, "--only", "daily").code == 0)
        #expect(try await tool.run("query", clone, "Customers/$count").output != "0\n")
        let removed = try await tool.run("remove-query", clone, "norway", "--json")
        #expect(removed.output.contains("\"rows\""), "\(removed.errors)")
        let gone = try await tool.run("query", clone, "Customers/$count")
        #expect(gone.code == 1 && gone.errors.contains("outpost add-query"), "\(gone.output) \(gone.errors)")
        #expect(try await tool.run("query", clone, "Categories/$count").output == "5\n")
        #expect(try await tool.run("add-query", clone, "nonsense").code == 2)
    }

    @Test("undo reverts changes that were not pushed")
    func undo() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=4").code == 0)
        #expect(try await tool.run("delete", clone, "Order_Lines(OrderID=1003,LineNumber=1)").code == 0)
        let one = try await tool.run("undo", clone, "Products(6)")
        #expect(one.output == "Took back the changes of 1 entity.\n", "\(one.errors)")
        #expect(try await tool.run("undo", clone, "--all", "--json").output.contains("1"))
        #expect(try await tool.run("undo", clone, "--all").output == "There was nothing to take back.\n")
        #expect(try await tool.run("status", clone).output.contains("Nothing to push."))
        #expect(try await tool.run("undo", clone).code == 2)
    }

    @Test("undo reverts a change set as a whole or not at all")
    func undoTogether() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        site.stop()
        try await site.serve(path: clone, "--open")
        let answer = try await Command.curl(
            "--header", "Content-Type: application/json", "--data",
            #"""
            {"requests":[{"id":"1","atomicityGroup":"a","method":"PATCH","url":"Products(6)","body":{"Stock":4711},
            "headers":{"content-type":"application/json"}},{"id":"2","atomicityGroup":"a","method":"PATCH",
            "url":"Products(7)","body":{"Stock":4712},"headers":{"content-type":"application/json"}}]}
            """#, site.url + "$batch")
        #expect(!answer.contains("error"), "\(answer)")
        site.stop()
        let part = try await tool.run("undo", clone, "Products(6)")
        #expect(part.code == 1 && part.errors.contains("--with-others"), "\(part.errors)")
        #expect(try await tool.run("query", clone, "Products(6)?$select=Stock", "--json").output.contains("4711"))
        let all = try await tool.run("undo", clone, "Products(6)", "--with-others")
        #expect(all.code == 0, "\(all.errors)")
        #expect(try await tool.run("status", clone).output.contains("Nothing to push."))
    }

    @Test("watch shows changes made by another process")
    func watch() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        let (process, output, _) = tool.process(["watch", clone, "Products(6)?$select=ProductID,Stock", "--json"])
        try process.run()
        defer { process.terminate() }
        let first = await Tool.line(of: output)
        #expect(first.contains("\"inserted\""))
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=4711").code == 0)
        let second = await Tool.line(of: output)
        #expect(second.contains("\"updated\"") && second.contains("4711"))
    }

    @Test("Enumeration members are given by name, and an unknown one is refused with the known ones")
    func enumerations() async throws {
        let site = try Site()
        let tool = site.tool
        try """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="N">
        <EnumType Name="Kind"><Member Name="Hall"/><Member Name="Office"/></EnumType>
        <EnumType Name="Flags" IsFlags="true"><Member Name="A" Value="1"/><Member Name="B" Value="2"/></EnumType>
        <EntityType Name="Room"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Kind" Type="N.Kind"/><Property Name="Flags" Type="N.Flags"/>
        <Property Name="Tags" Type="Collection(Edm.String)"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Rooms" EntityType="N.Room"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """.write(toFile: site.path("model.xml"), atomically: true, encoding: .utf8)
        try #"{"Rooms":[{"ID":1}]}"#.write(toFile: site.path("rows.json"), atomically: true, encoding: .utf8)
        try await site.serve(path: site.path("model.xml"), "--rows", site.path("rows.json"))
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        for (arguments, kind, flags) in [
            (["Kind=Office", "Flags=B"], "Office", "B"), (["Kind=0", "Flags=A,B"], "Hall", "A,B"),
            ([#"Kind="Office""#, #"Flags="A""#], "Office", "A"),
        ] {
            let updated = try await tool.run(["update", clone, "Rooms(1)"] + arguments)
            #expect(updated.code == 0, "\(updated.errors)")
            let room = try await tool.run("query", clone, "Rooms(1)", "--json")
            let object = try JSONSerialization.jsonObject(with: Data(room.output.utf8)) as? [String: Any]
            #expect(object?["Kind"] as? String == kind && object?["Flags"] as? String == flags, "\(room.output)")
        }
        #expect(try await tool.run("create", clone, "Rooms", "ID=2", "Kind=Hall").code == 0)
        #expect(try await tool.run("push", clone).code == 0)
        for (argument, words) in [
            ("Kind=Ofice", "Did you mean Office?"), ("Kind=Xyz", "Its members are Hall, Office."),
            ("Kind=Hall,Office", "Its members are Hall, Office."), ("Tags=a", "It is given as JSON."),
        ] {
            let refused = try await tool.run("update", clone, "Rooms(1)", argument)
            #expect(refused.code == 1 && refused.errors.contains(words), "\(argument): \(refused.errors)")
        }
    }

    @Test("watch ends when its output is closed")
    func watchUnseen() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        let (process, _, errors) = site.tool.process(["watch", clone, "Products(6)"])
        process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
        async let said = Tool.text(errors)
        try process.run()
        for _ in 0..<500 where process.isRunning { try await Task.sleep(for: .milliseconds(20)) }
        let hasEnded = !process.isRunning
        if !hasEnded { process.terminate() }
        process.waitUntilExit()
        let text = await said
        #expect(hasEnded && process.terminationStatus == 1)
        #expect(text.contains("The output cannot be written: No space left on device."), "\(text)")
    }

    @Test("A large value with a high compression ratio is cloned")
    func wellPacked() async throws {
        let site = try Site()
        try SQLite.execute(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, n TEXT);
            INSERT INTO t VALUES (1, hex(zeroblob(500000)));
            """, in: site.database)
        try await site.serve()
        let clone = site.path("clone")
        let cloned = try await site.tool.run("clone", site.url, clone)
        #expect(cloned.code == 0, "\(cloned.errors)")
        let found = try await site.tool.run("query", clone, "t/$count?$filter=length(n) eq 1000000")
        #expect(found.output == "1\n", "\(found.errors)")
    }
}
