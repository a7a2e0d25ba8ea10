-- What was spent on a day is summed up ahead of each request, where a limit is set.

CREATE INDEX windows_by_day ON windows (sent_at, cost, reply, input_tokens, output_tokens, provider);
