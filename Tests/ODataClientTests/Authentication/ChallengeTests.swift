import HTTPTypes
import ODataClient
import ODataHTTP
import Testing

@Suite("Challenges (RFC 9110, 11.6.1)") struct ChallengeTests {
    private func schemes(_ fields: [String]) throws -> [String] {
        var response = HTTPResponse(status: .unauthorized)
        for value in fields { response.headerFields.append(HTTPField(name: .wwwAuthenticate, value: value)) }
        let origin = try #require(Origin(scheme: "https", authority: "h.test"))
        let challenge = AuthenticationChallenge(
            request: request(), response: response, origin: origin, isProxy: false, page: [], attempt: 1)
        return challenge.schemes.map { scheme in
            let parameters = scheme.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return ([scheme.name] + parameters).joined(separator: " ")
        }
    }

    @Test(
        "Authentication schemes and parameters are read in all forms",
        arguments: [
            (["Basic realm=\"simple\""], ["basic realm=simple"]),
            (["Basic realm=\"a \\\"b\\\" c\", charset=\"UTF-8\""], ["basic charset=UTF-8 realm=a \"b\" c"]),
            (
                ["Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\""],
                ["newauth realm=apps title=Login to \"apps\" type=1", "basic realm=simple"]
            ),
            (["Basic realm=\"\u{301}a\", charset=x"], ["basic charset=x realm=\u{301}a"]),
            (["Negotiate", "NTLM", "Basic realm=x"], ["negotiate", "ntlm", "basic realm=x"]),
            (["Negotiate YII==, Bearer error=\"invalid_token\""], ["negotiate", "bearer error=invalid_token"]),
            (["Basic realm=\"unterminated"], ["basic realm=unterminated"]),
            (["Basic realm = \"spaced\" , x = y"], ["basic realm=spaced x=y"]), ([""], []), ([",,, ,"], []),
            (["=\"x\""], []),
        ] as [([String], [String])])
    func reads(fields: [String], expected: [String]) throws {
        #expect(try schemes(fields) == expected)
    }

    @Test("The number of schemes in a challenge is limited") func many() throws {
        let field = (0..<1000).map { "S\($0)" }.joined(separator: ", ")
        #expect(try schemes([field]).count == 64)
    }
}
