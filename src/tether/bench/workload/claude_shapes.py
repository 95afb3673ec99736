"""The records of Claude Code as templates. All that goes into them is ASCII and already escaped."""

from __future__ import annotations

VERSION = "2.1.325"
_MODEL = "claude-opus-5-5"
_USAGE = (
    '"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,'
    '"output_tokens":%d,"output_tokens_details":{"thinking_tokens":0},"server_tool_use":'
    '{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard","cache_creation":'
    '{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":0},"inference_geo":"",'
    '"iterations":[],"speed":"standard","fallback_credit":null}'
)
ASSISTANT = (
    '{"parentUuid":%s,"isSidechain":%s,"message":{"id":"msg_%s","type":"message","role":"assistant"'
    ',"model":"' + _MODEL + '","content":[%s],"stop_reason":"%s","stop_sequence":null,' + _USAGE
    + ',"stop_details":null},"requestRef":"%s","requestedModel":"' + _MODEL + '",'
    '"promptCacheRequested":"5m","type":"assistant","uuid":"%s","timestamp":"%s","effort":"medium",'
    '"perTurnEffort":"medium","madeBy":"model"%s'
)  # fmt: skip
USER = (
    '{"parentUuid":%s,"isSidechain":%s,"promptId":"%s","type":"user","message":{"role":"user",'
    '"content":"%s"},%s"uuid":"%s","timestamp":"%s","permissionMode":"default"%s'
)
RESULT = (
    '{"parentUuid":"%s","isSidechain":%s,"promptId":"%s","type":"user","message":{"role":"user",'
    '"content":[{"tool_use_id":"toolu_%s","type":"tool_result","content":"%s"%s}]},"uuid":"%s",'
    '"timestamp":"%s","toolUseResult":%s,"sourceToolAssistantUUID":"%s"%s'
)
BOUNDARY = (
    '{"parentUuid":null,"logicalParentUuid":%s,"isSidechain":false,"type":"system","subtype":'
    '"compact_boundary","content":"Conversation compacted","isMeta":false,"timestamp":"%s","uuid":'
    '"%s","level":"info","compactMetadata":{"trigger":"auto","preTokens":%d,"durationMs":%d,'
    '"postTokens":2672,"cumulativeDroppedTokens":%d}%s'
)
HOOK = (
    '{"parentUuid":%s,"isSidechain":false,"attachment":{"type":"hook_success","hookName":'
    '"SessionStart:startup","toolUseID":"%s","hookEvent":"SessionStart","content":"","stdout":"",'
    '"stderr":"","exitCode":0,"command":"session-start","durationMs":56},"type":"attachment",'
    '"uuid":"%s","timestamp":"%s"%s'
)
LIMIT = (
    '{"parentUuid":%s,"isSidechain":false,"type":"assistant","uuid":"%s","timestamp":"%s","message":'
    '{"id":"%s","model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence",'
    '"stop_sequence":"","type":"message","usage":{"input_tokens":0,"output_tokens":0},"content":'
    '[{"type":"text","text":"You\'ve hit your 5-hour limit \\u00b7 resets soon (UTC)"}]},'
    '"apiError":"usage_limit_reached","apiErrorParams":{"rate_limit_info":{"status":"rejected","resetsAt":%d,'
    '"rateLimitType":"five_hour","isUsingOverage":false}},"error":"rate_limit","isApiErrorMessage":'
    'true,"apiErrorStatus":429%s'
)
ENDING = (
    ',"userType":"external","entrypoint":"cli","cwd":"%s","sessionId":"%s","version":"'
    + VERSION
    + '","gitBranch":"main"}\n'
)
CONTINUED = (
    "This session is being continued from a previous conversation that ran out of context. The"
    " summary below covers the earlier portion of the conversation.\\n\\n"
)
SUMMARY = '"isVisibleInTranscriptOnly":true,"isCompactSummary":true,'
AT_REST = '{"type":"text","text":"That is all for now."}'
