import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

extension TransportCheck {
    /// Checks of message heads and short bodies.
    static let messages: [TransportCheck] = [
        TransportCheck("a request and its body arrive, and so do the response and its body") { subject in
            try await subject.joined { request, body in
                let text = (try? await body.collect(limit: 1000)) ?? []
                var response = HTTPResponse(status: .created)
                response.headerFields[.contentType] = request.headerFields[.contentType]
                response.headerFields[.eTag] = "W/\"1\""
                return (response, ByteStream(Array("\(request.method) \(request.path ?? "")|".utf8) + text))
            } _: { wire in
                let (response, text) = try await wire.text(
                    .post, "/a(b='%C3%BC%2F')?$top=1&$filter=a%20eq%20'x'", fields: [(.contentType, "text/x")],
                    body: ByteStream(Array("hello".utf8)))
                try expect(response.status.code, is: 201, "status")
                try expect(response.headerFields[.contentType], is: "text/x", "a field")
                try expect(response.headerFields[.eTag], is: "W/\"1\"", "an entity tag")
                try expect(text, is: "POST /a(b='%C3%BC%2F')?$top=1&$filter=a%20eq%20'x'|hello", "the body")
            }
        },
        TransportCheck("every method goes over as it is, and its body too") { subject in
            try await subject.joined { request, body in
                let count = (try? await body.collect(limit: 1000))?.count ?? -1
                return (HTTPResponse(status: .ok), ByteStream(Array("\(request.method) \(count)".utf8)))
            } _: { wire in
                for name in ["GET", "PUT", "POST", "PATCH", "DELETE", "MERGE"] {
                    guard let method = HTTPRequest.Method(name) else { continue }
                    let body = name == "GET" ? nil : ByteStream([1, 2, 3])
                    let (_, text) = try await wire.text(method, body: body)
                    try expect(text, is: "\(name) \(body == nil ? 0 : 3)", "method and body")
                }
            }
        },
        TransportCheck("answers without a body have none") { subject in
            try await subject.joined { request, _ in
                switch request.path {
                case "/204": return (HTTPResponse(status: .noContent), ByteStream(length: 0) { nil })
                case "/304": return (HTTPResponse(status: .notModified), ByteStream(length: 0) { nil })
                default: return (HTTPResponse(status: .ok), ByteStream(Array("body".utf8)))
                }
            } _: { wire in
                for path in ["/204", "/304"] {
                    let (response, text) = try await wire.text(.get, path)
                    try expect("/\(response.status.code)", is: path, "status")
                    try expect(text, is: "", "the body of \(path)")
                }
            }
        },
        TransportCheck("HEAD gives the fields and no body", needs: [.sockets]) { subject in
            try await subject.joined { _, _ in
                var response = HTTPResponse(status: .ok)
                response.headerFields[.contentLength] = "4"
                return (response, ByteStream(Array("body".utf8)))
            } _: { wire in
                let (response, text) = try await wire.text(.head)
                try expect(response.status.code, is: 200, "status")
                try expect(text, is: "", "the body")
            }
        },
        TransportCheck("fields of one name stay several", needs: [.keepsRepeatedFields]) { subject in
            try await subject.joined { _, _ in
                var response = HTTPResponse(status: .ok)
                response.headerFields.append(HTTPField(name: .setCookie, value: "a=1; Path=/"))
                response.headerFields.append(
                    HTTPField(name: .setCookie, value: "b=2; Expires=Wed, 21 Oct 2037 07:28:00 GMT"))
                return (response, ByteStream(length: 0) { nil })
            } _: { wire in
                let (response, _) = try await wire.text()
                try expect(
                    response.headerFields[values: .setCookie],
                    is: ["a=1; Path=/", "b=2; Expires=Wed, 21 Oct 2037 07:28:00 GMT"], "the cookies")
            }
        },
        TransportCheck("cookies are not kept and credentials not made up") { subject in
            try await subject.joined { request, _ in
                var response = HTTPResponse(status: request.path == "/401" ? .unauthorized : .ok)
                response.headerFields[.setCookie] = "a=1; Path=/"
                response.headerFields[.wwwAuthenticate] = request.path == "/401" ? "Basic realm=\"x\"" : nil
                let fields = [request.headerFields[.cookie], request.headerFields[.authorization]]
                return (response, ByteStream(Array(fields.compactMap { $0 }.joined().utf8)))
            } _: { wire in
                for path in ["/", "/401", "/"] {
                    let (response, text) = try await wire.text(.get, path)
                    try expect(response.status.code, is: path == "/401" ? 401 : 200, "status")
                    try expect(text, is: "", "cookies and credentials")
                }
            }
        },
        TransportCheck("cookies travel in one field, over HTTP/1.1 (RFC 6265, 5.4)", needs: [.joinsCookies]) {
            subject in
            try await subject.joined { request, _ in
                let cookies = request.headerFields[values: .cookie]
                return (HTTPResponse(status: .ok), ByteStream(Array(cookies.joined(separator: "|").utf8)))
            } _: { wire in
                let (_, text) = try await wire.text(fields: [(.cookie, "a=1"), (.cookie, "b=2"), (.cookie, "c=x; d=3")])
                try expect(text, is: "a=1; b=2; c=x; d=3", "the cookies")
            }
        },
        TransportCheck("redirects are given back as they came") { subject in
            try await subject.joined { request, _ in
                var response = HTTPResponse(status: .init(code: Int(request.path?.dropFirst() ?? "") ?? 200))
                response.headerFields[.location] = "/200"
                return (response, ByteStream(Array((request.path ?? "").utf8)))
            } _: { wire in
                for code in [301, 302, 303, 307, 308] {
                    let (response, text) = try await wire.text(.get, "/\(code)")
                    try expect(response.status.code, is: code, "status")
                    try expect(response.headerFields[.location], is: "/200", "Location")
                    try expect(text, is: "/\(code)", "the body")
                }
            }
        },
        TransportCheck("packed answers are unpacked, asked for by default and refusable", needs: [.unpacks]) {
            subject in
            let text = (0..<4000).map { "{\"a\":\($0 * 7919 % 10_007)}," }.joined()
            try await subject.joined { request, _ in
                var response = HTTPResponse(status: .ok)
                response.headerFields[.contentType] = "application/json"
                response.headerFields[.contentLanguage] = request.headerFields[.acceptEncoding] ?? "none"
                return (response, ByteStream(Array(text.utf8)))
            } _: { wire in
                let isTold = Mutex(false)
                let options = TransferOptions { event in
                    if case .unpacked(let coding) = event { isTold.withLock { $0 = coding == "gzip" } }
                }
                let (packed, body) = try await wire.text(options: options)
                try expect(isTold.withLock { $0 }, "that the body was packed was not told")
                try expect(packed.headerFields[.contentLanguage]?.contains("gzip") == true, "gzip was not asked for")
                try expect(body == text, "the body was not unpacked")
                try expect(packed.headerFields[.contentEncoding], is: nil, "Content-Encoding")
                let (plain, whole) = try await wire.text(options: TransferOptions(acceptsCompression: false))
                try expect(
                    plain.headerFields[.contentLanguage]?.contains("gzip") == false, "gzip was asked for all the same")
                try expect(whole == text, "the plain body is another")
            }
        },
        TransportCheck("the moments of a transfer are told in their order", needs: [.tellsMoments]) { subject in
            try await subject.joined { _, _ in
                (HTTPResponse(status: .ok), ByteStream(Array("body".utf8)))
            } _: { wire in
                for expected in [["connected", "sent", "first", "last"], ["reused", "sent", "first", "last"]] {
                    let moments = MomentList()
                    _ = try await wire.text(.post, body: ByteStream([1]), options: TransferOptions(report: moments.add))
                    try await eventually("all moments are told: \(moments.names)") {
                        moments.names.count >= expected.count
                    }
                    try expect(moments.names, is: expected, "the moments")
                    try expect(moments.isInOrder, "the moments are not in their order")
                }
            }
        },
    ]
}
