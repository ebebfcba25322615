import Foundation
import HTTPTypes
import MobileProtocol
import ODataClient
import ODataHTTP
import ODataServer
import ODataService
import ODataTransportNIO
import Testing

@testable import MobileServer

/// A network edge, relays, prefixes of proxies, `$metadata`, `$batch` and destinations.
@Suite("Network edge") struct EdgeTests {
    /// A proxy in front of a server: it asks for a sign-in by a form, sets a cookie, and forwards with its own prefix.
    private static func edge(
        to port: Int, prefix: String, adding leading: String, transport: NIOTransport
    ) async throws -> RunningServer {
        try await ODataServer(handler: { head, body in
            let path = head.path ?? "/"
            if path == "/login", head.method == .post {
                var response = HTTPResponse(status: .seeOther)
                response.headerFields[.setCookie] = "edge=open; Path=/; HttpOnly"
                response.headerFields[.location] = "/"
                return (response, ByteStream([]))
            }
            guard head.headerFields[values: .cookie].contains("edge=open") else {
                var response = HTTPResponse(status: .seeOther)
                response.headerFields[.location] = "/login"
                return (response, ByteStream([]))
            }
            guard path.hasPrefix(prefix) else { return (HTTPResponse(status: .notFound), ByteStream([])) }
            var inner = HTTPRequest(
                method: head.method, scheme: "http", authority: "127.0.0.1:\(port)",
                path: leading + path.dropFirst(prefix.count))
            for field in head.headerFields where field.name != .cookie {
                inner.headerFields.append(field)
            }
            do {
                let bytes = try await body.collect(limit: 1 << 20)
                return try await transport.send(inner, body: bytes.isEmpty ? nil : ByteStream(bytes))
            } catch {
                return (HTTPResponse(status: .badGateway), ByteStream([]))
            }
        }).start()
    }

    private static func register(
        _ device: LabDevice, at base: String, port: Int, path: String, lab: DeviceLab, transport: NIOTransport
    ) async throws -> (status: Int, location: String?) {
        let nonce = ProofNonces(key: lab.keys.key(.nonces).symmetricKey).make(at: lab.now)
        var request = HTTPRequest(
            method: .post, scheme: "http", authority: "127.0.0.1:\(port)", path: path + "m/v1/shop/Registrations")
        request.headerFields[.contentType] = "application/json"
        request.headerFields[.authorization] = device.authorization
        request.headerFields[.cookie] = "edge=open"
        let proof = try device.proof("POST", base + "m/v1/shop/Registrations", nonce: nonce, now: lab.now)
        if let name = HTTPField.Name(MobileFieldNames.proof) { request.headerFields[name] = proof }
        let body = ByteStream(Array(#"{"ID":"\#(device.id)"}"#.utf8))
        let (response, stream) = try await transport.send(request, body: body)
        _ = try await stream.collect(limit: 1 << 20)
        return (response.status.code, response.headerFields[.location])
    }

    @Test("A device behind a network edge registers with the edge's cookie, at the public URL")
    func networkEdge() async throws {
        var settings = ListenerSettings()
        settings.publicURL = "https://edge.example/mobile/"
        settings.pathPrefix = "/inner"
        let lab = try await DeviceLab(server: settings)
        try await lab.run { server in
            let edge = try await Self.edge(
                to: server.server.port, prefix: "/mobile/", adding: "/inner/", transport: server.transport)
            let device = LabDevice()
            var closed = HTTPRequest(
                method: .get, scheme: "http", authority: "127.0.0.1:\(edge.port)", path: "/mobile/m/v1/shop/$metadata")
            #expect(try await server.transport.send(closed, body: nil).0.status == .seeOther)
            closed.headerFields[.cookie] = "edge=open"
            #expect(try await server.transport.send(closed, body: nil).0.status == .ok)
            let made = try await Self.register(
                device, at: "https://edge.example/mobile/", port: edge.port, path: "/mobile/", lab: lab,
                transport: server.transport)
            #expect(made.status == 201)
            #expect(made.location == "https://edge.example/mobile/m/v1/shop/Registrations('\(device.id)')")
            await edge.stop()
        }
    }

    @Test(
        "Behind a relay, the farm is a path segment of the URL",
        arguments: [
            "/client/rs_client.dll/farm1/", "/cli/iasrelayserver/farm1/", "/ias_relay_server/client/rs_client.dll/f/",
        ])
    func relay(path: String) async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let device = LabDevice()
            let base = server.root + path
            let made = try await Self.register(
                device, at: base, port: server.server.port, path: path, lab: lab, transport: server.transport)
            #expect(made.status == 201)
            #expect(made.location == "\(base)m/v1/shop/Registrations('\(device.id)')")
            let wrong = try await server.send(.get, "/client/rs_client.dll/m/v1/shop/$metadata")
            #expect(wrong.status == 404)
        }
    }

    @Test("The addresses of the API depend only on the settings")
    func addresses() throws {
        var settings = ListenerSettings()
        settings.pathPrefix = "a/b/"
        let addresses = DeviceAddresses(settings)
        #expect(addresses.prefix == "/a/b/")
        var head = HTTPRequest(
            method: .get, scheme: "http", authority: "h:1", path: "/a/b/m/v1/shop/d/north/Orders?x=1")
        let address = try addresses.address(of: head, MountContext())
        #expect(address.application == "shop")
        #expect(address.root == "/a/b/m/v1/shop/")
        #expect(address.publicRoot == "http://h:1/a/b/m/v1/shop/")
        #expect(address.resource.url == "http://h:1/a/b/m/v1/shop/d/north/Orders")
        #expect(address.destination?.root == "/a/b/m/v1/shop/d/north/")
        head.path = "/a/b/m/v1/"
        #expect(throws: (any Error).self) { try addresses.address(of: head, MountContext()) }
        head.path = "/m/v1/shop/"
        #expect(throws: (any Error).self) { try addresses.address(of: head, MountContext()) }
    }

    @Test("Metadata and service document need no sign-in, and describe the sets")
    func metadata() async throws {
        try await DeviceLab().run { server in
            let metadata = try await server.send(.get, server.api + "$metadata")
            #expect(metadata.status == 200)
            for name in ["Registrations", "Destinations", "Policies", "Features", "Confirm", "Enroll"] {
                #expect(metadata.text.contains(#"Name="\#(name)""#), "\(name)")
            }
            #expect(metadata.text.contains("BatchSupported"))
            let document = try await server.send(.get, server.api)
            let names = (document.json["value"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
            #expect(
                Set(names) == [
                    "Registrations", "Destinations", "Policies", "Features", "Uploads", "Shared", "Messages",
                    "Subscriptions", "Bundles", "LogRecords", "PersonalizationValues",
                ])
        }
    }

    @Test("Destinations list their defining queries and store options, and d/NAME forwards the caller")
    func destinations() async throws {
        try await DeviceLab().run { server in
            let device = LabDevice()
            try await device.register(server)
            let answer = try await device.send(server, .get, "Destinations('northwind')")
            #expect(answer.status == 200)
            #expect(answer.json["URL"] as? String == "d/northwind/")
            let queries = answer.json["Queries"] as? [[String: Any]] ?? []
            #expect(queries.first?["Query"] as? String == "Orders?$filter=Open")
            #expect(queries.first?["RefreshInterval"] as? Int == 15)
            #expect(queries.first?["Streams"] as? Bool == true)
            #expect((answer.json["StoreOptions"] as? [String: Any])?["collation"] as? String == "UTF8BIN")
            let passed = try await device.send(server, .get, "d/northwind/Orders?$top=1")
            #expect(passed.text == "northwind /m/v1/shop/d/northwind/ ann \(device.id)")
            #expect(passed.field(MobileFieldNames.policies) != nil)
        }
    }

    @Test("A user without a device can use only destinations that need no registration")
    func withoutDevice() async throws {
        let open = try await DeviceLab { $0.registration.isRequired = false }
        try await open.run { server in
            let answer = try await server.send(
                .get, server.api + "d/northwind/Orders", ["Authorization": LabDevice.basic("ann", "ann's password")])
            #expect(answer.status == 200)
            #expect(answer.text.hasSuffix("ann -"))
            let policies = try await server.send(
                .get, server.api + "Policies", ["Authorization": LabDevice.basic("ann", "ann's password")])
            #expect(policies.status == 404)
            #expect(try await server.send(.get, server.api + "d/northwind/Orders").status == 401)
        }
        let closed = try await DeviceLab { $0.registration.isRequired = true }
        try await closed.run { server in
            let answer = try await server.send(
                .get, server.api + "d/northwind/Orders", ["Authorization": LabDevice.basic("ann", "ann's password")])
            #expect(answer.status == 404)
            #expect(answer.code == "RegistrationUnknown")
        }
    }

    @Test("Permissions are rights of a destination: role, set, verbs and filter")
    func permissions() throws {
        var configuration = ApplicationConfiguration()
        #expect(configuration.rights(at: "north") == nil)
        configuration.permissions = [
            PermissionRule(role: "buyer", set: "Orders", verbs: ["read"], filter: "Owner eq @user"),
            PermissionRule(role: "buyer", destination: "south", set: "Orders", verbs: ["create"]),
            PermissionRule(role: "everyone", set: "Reset", verbs: ["call"]),
        ]
        let ann = Principal(name: "ann", roles: ["buyer"])
        let north = try #require(configuration.rights(at: "north"))
        let access = north.access(of: ann, to: "Orders")
        #expect(access.kinds == [.read])
        #expect(access.rowFilter?.values == ["user": "ann"])
        #expect(north.access(of: Principal(name: "bob"), to: "Orders").kinds.isEmpty)
        #expect(north.access(of: ann, to: "Reset", isOperation: true).kinds == [.read, .update])
        #expect(
            try #require(configuration.rights(at: "south")).access(of: ann, to: "Orders").kinds == [.read, .create])
    }
}

/// The generated proxies of `MobileProtocol` against a running server.
@Suite("Proxies against a server") struct DeviceProxyTests {
    @Test("The proxies register a device, read its documents and enroll it")
    func proxies() async throws {
        let lab = try await DeviceLab { $0.registration.deviceProof = .none }
        try await lab.run { server in
            var configuration = ODataClient.Configuration()
            configuration.headers[MobileFieldNames.registration] = "device-1"
            let client = try await ODataClient(
                server.root + server.api, transport: server.transport,
                authentication: .basic(user: "ann", password: "ann's password"), configuration: configuration)
            let api = MobileAPIService(odataService: DataService(client))
            var registration = MobileRegistration()
            registration.id = "device-1"
            registration.deviceModel = "Pad 3"
            let made = try await api.registrations.create(registration)
            #expect(made.userName == "ann")
            #expect(made.state == 203)
            let policies = try #require(try await api.policies.get())
            #expect(policies.lock?.state == "none")
            #expect(policies.passwordPolicy?.enabled == false)
            #expect(try await api.features.get()?.all == true)
            #expect(try await api.destinations.first()?.queries?.first?.query == "Orders?$filter=Open")
            let own = api.registrations.key("device-1")
            let enrolled = try #require(try await own.enroll(request: EnrollTests.request()))
            #expect(enrolled.contentType == "application/pkix-cert")
            let certificate = DeviceCertificate(try await enrolled.0.collect(limit: 1 << 16))
            #expect(certificate?.commonName == "device-1")
            _ = try await lab.state.registrations.setLock(
                .locked, confirmation: nil, registration: "device-1", of: lab.application.id)
            let order = try #require(try await api.policies.get()?.lock)
            try await own.confirm(kind: "locked", version: try #require(order.version))
            let record = try await lab.state.registrations.registration("device-1", of: lab.application.id)
            #expect(record?.isLockConfirmed == true)
        }
    }
}
