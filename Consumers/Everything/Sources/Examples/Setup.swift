// The names that examples in the documentation use without declaring them. The examples are compiled, and never run.

import Foundation
import HTTPTypes
import OutpostKit

// MARK: Values of the app

var root: String { fatalError() }
var directory: String { fatalError() }
var folder: String { fatalError() }
var path: String { fatalError() }
var userName: String { fatalError() }
var password: String { fatalError() }
var key: EncryptionKey { fatalError() }
var keys: any SecretStore { fatalError() }
var protection: StoreProtection { fatalError() }
var queries: [DefiningQuery] { fatalError() }
var error: any Error { fatalError() }

/// Stands for the user interface of the app.
func show(_ values: Any...) {}

// MARK: An online service

var transport: any HTTPTransport { fatalError() }
var session: HTTPSession { fatalError() }
var client: ODataClient { fatalError() }
var request: HTTPRequest { fatalError() }
var tokenStore: any OAuth2TokenStore { fatalError() }
var configuration: OAuth2.Configuration { fatalError() }
var server: OAuth2Server { fatalError() }
var vault: Vault { fatalError() }

func currentToken(renewing: Bool = false) async throws -> String { fatalError() }
func ask(_ question: String, _ user: String?) async -> UserCredentials? { fatalError() }
func openBrowser(_ url: String) async throws -> String { fatalError() }
func send(_ credentials: UserCredentials, to challenge: AuthenticationChallenge) async throws { fatalError() }

// MARK: Reading and changing

var store: OfflineStore { fatalError() }
var service: DataService { fatalError() }
var model: EntityDataModel { fatalError() }
var cache: MemoryEntityCache { fatalError() }
nonisolated(unsafe) var order: ODataEntity = { fatalError() }()
var item: ODataEntity { fatalError() }
var orders: [ODataEntity] { fatalError() }
var northwind: NorthwindService { fatalError() }
